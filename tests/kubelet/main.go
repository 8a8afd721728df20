// The device manager of a kubelet, of the Kubernetes version that this is built with, without the rest of a kubelet.
//
// It is told what to do on its standard input, a JSON object a line, and answers on its standard output:
//
//	{"do": "start", "running": [{"pod": UID, "container": NAME}..]}  the kubelet starts, beside what runs already
//	{"do": "admit", "pod": a whole pod}     {"pod": UID, "containers": {NAME: {"ids": [..], "devices": [..]}..}}
//	                                        {"pod": UID, "rejected": why}
//	{"do": "synced"}                        all pods there were when it started have been told
//	{"do": "end", "uid": UID}               a pod has ended; no answer
//	{"do": "end_amid", "uid": UID, "resource": NAME}
//	                                        the same, while devices are handed out, and just then a client lists
//	                                        the resources of pods; a little later, where none are; no answer
//	{"do": "slots", "resource": NAME}       {"slots": how many are allocatable}
//
// Pods are admitted one after the other in the order told; all else happens at once. Its paths are a kubelet's own:
// it wants a mount namespace with a /var/lib/kubelet/device-plugins to itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const longestLine = 1 << 20

type command struct {
	Do       string      `json:"do"`
	Pod      *v1.Pod     `json:"pod"`
	UID      types.UID   `json:"uid"`
	Running  []container `json:"running"`
	Resource string      `json:"resource"`
}

// speaker writes answers, a line each, from any goroutine.
type speaker struct {
	mutex sync.Mutex
	lines *json.Encoder
}

func (s *speaker) say(answer any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.lines.Encode(answer); err != nil {
		os.Exit(0) // no reader is left
	}
}

func do(k *kubelet, told command, admissions chan<- func(), out *speaker) error {
	switch told.Do {
	case "start":
		return k.start(told.Running)
	case "admit":
		admissions <- func() { out.say(k.admit(told.Pod)) }
	case "synced":
		admissions <- func() { k.synced.Store(true) }
	case "end":
		k.end(told.UID)
	case "end_amid":
		go k.endAmid(told.UID, v1.ResourceName(told.Resource))
	case "slots":
		out.say(map[string]int64{"slots": k.slots(told.Resource)})
	default:
		return fmt.Errorf("told to do %q, which is nothing", told.Do)
	}
	return nil
}

func run() error {
	k, err := newKubelet()
	if err != nil {
		return err
	}
	admissions := make(chan func(), 1<<14)
	go func() {
		for admit := range admissions {
			admit()
		}
	}()
	out := &speaker{lines: json.NewEncoder(os.Stdout)}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var told command
		if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
			return err
		}
		if err := do(k, told, admissions, out); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "device-manager:", err)
		os.Exit(1)
	}
}
