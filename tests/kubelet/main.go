// Runs the device manager of a kubelet without the rest of one, of the Kubernetes version that this is built with.
//
// It reads commands from its standard input, one JSON object a line, and writes answers to its standard output:
//
//	{"do": "start", "running": [{"pod": UID, "container": NAME}..]}  the kubelet starts, beside what runs already
//	{"do": "admit", "pod": a whole pod}     {"pod": UID, "containers": {NAME: {"ids": [..], "devices": [..]}..}}
//	                                        {"pod": UID, "rejected": why}
//	{"do": "synced"}                        all pods that existed when it started have been sent
//	{"do": "end", "uid": UID}               a pod has ended; no answer
//	{"do": "end_amid", "uid": UID, "resource": NAME}
//	                                        the same, while devices are handed out, and at that moment a client lists
//	                                        the resources of pods; if none are handed out, a little later; no answer
//	{"do": "slots", "resource": NAME}       {"slots": how many are allocatable}
//
// Pods are admitted one after the other in the order of the commands; all else happens at once. Its paths are those
// of a kubelet, so it needs a mount namespace with a /var/lib/kubelet/device-plugins of its own.
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

// speaker writes answers, one line each, from any goroutine.
type speaker struct {
	mutex sync.Mutex
	lines *json.Encoder
}

func (s *speaker) say(answer any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.lines.Encode(answer); err != nil {
		os.Exit(0) // the reader has gone
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
