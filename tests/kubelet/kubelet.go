package main

import (
	"context"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const patience = 100 * time.Millisecond

type container struct {
	Pod  string `json:"pod"`
	Name string `json:"container"`
}

type given struct {
	IDs     []string `json:"ids"`     // as the kubelet has written them down
	Devices []string `json:"devices"` // CDI names, as the container runtime is told
}

type verdict struct {
	Pod        types.UID        `json:"pod"`
	Containers map[string]given `json:"containers,omitempty"`
	Rejected   string           `json:"rejected,omitempty"`
}

// kubelet is as much of one as its device manager meets: the pods that are active, and whether all that were there
// when it started are known. It is the manager's config.SourcesReady.
type kubelet struct {
	manager *devicemanager.ManagerImpl
	synced  atomic.Bool

	mutex     sync.Mutex
	active    map[types.UID]*v1.Pod
	admitting types.UID
	ended     map[types.UID]bool
}

func newKubelet() (*kubelet, error) {
	manager, err := devicemanager.NewManagerImpl(nil, topologymanager.NewFakeManager())
	if err != nil {
		return nil, err
	}
	return &kubelet{manager: manager, active: map[types.UID]*v1.Pod{}, ended: map[types.UID]bool{}}, nil
}

func (k *kubelet) AddSource(string) {}

func (k *kubelet) AllReady() bool { return k.synced.Load() }

func (k *kubelet) start(running []container) error {
	known, up := containermap.NewContainerMap(), sets.New[string]()
	for number, each := range running {
		id := strconv.Itoa(number)
		known.Add(each.Pod, each.Name, id)
		up.Insert(id)
	}
	return k.manager.Start(klog.Background(), k.activePods, k, known, up)
}

func (k *kubelet) activePods() []*v1.Pod {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	pods := make([]*v1.Pod, 0, len(k.active))
	for _, pod := range k.active {
		pods = append(pods, pod)
	}
	return pods
}

// admit does what HandlePodAdditions does: the pod is active first, then its containers get devices, those that
// initialise before the others.
func (k *kubelet) admit(pod *v1.Pod) verdict {
	k.begin(pod)
	defer k.finish()
	answer := verdict{Pod: pod.UID, Containers: map[string]given{}}
	containers := containersOf(pod)
	for i := range containers {
		if err := k.manager.Allocate(pod, &containers[i]); err != nil {
			k.end(pod.UID)
			return verdict{Pod: pod.UID, Rejected: err.Error()}
		}
	}
	for i := range containers {
		answer.Containers[containers[i].Name] = k.given(pod, &containers[i])
	}
	return answer
}

func (k *kubelet) begin(pod *v1.Pod) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.active[pod.UID] = pod
	k.admitting = pod.UID
}

// finish ends the pod after all if it was to end while it was being admitted: a kubelet does one after the other.
func (k *kubelet) finish() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.ended[k.admitting] {
		delete(k.active, k.admitting)
	}
	k.admitting = ""
}

func containersOf(pod *v1.Pod) []v1.Container {
	return append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...)
}

func (k *kubelet) given(pod *v1.Pod, each *v1.Container) given {
	got := given{IDs: []string{}, Devices: []string{}}
	for _, instances := range k.manager.GetDevices(string(pod.UID), each.Name) {
		for id := range instances {
			got.IDs = append(got.IDs, id)
		}
	}
	options, err := k.manager.GetDeviceRunContainerOptions(context.Background(), pod, each)
	if err == nil && options != nil {
		for _, device := range options.CDIDevices {
			got.Devices = append(got.Devices, device.Name)
		}
	}
	sort.Strings(got.IDs)
	sort.Strings(got.Devices)
	return got
}

func (k *kubelet) end(uid types.UID) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.ended[uid] = true
	if uid != k.admitting {
		delete(k.active, uid)
	}
}

// endAmid ends a pod while the manager waits for a plugin's answer, and does to it what the PodResourcesLister of a
// kubelet does for each List: the manager then forgets what it is handing out.
func (k *kubelet) endAmid(uid types.UID, resource v1.ResourceName) {
	k.manager.UpdateAllocatedDevices() // what has ended before counts no more
	for end := time.Now().Add(patience); time.Now().Before(end) && !k.handsOut(resource); {
		runtime.Gosched()
	}
	k.end(uid)
	k.manager.UpdateAllocatedDevices()
}

// handsOut tells whether more is allocated than containers have.
func (k *kubelet) handsOut(resource v1.ResourceName) bool {
	node, have := framework.NewNodeInfo(), sets.New[string]()
	for _, pod := range k.activePods() {
		// That is how it says how much is allocated: as what a node has at least. Of a pod that has nothing it
		// says nothing.
		if err := k.manager.UpdatePluginResources(node, &lifecycle.PodAdmitAttributes{Pod: pod}); err != nil {
			return false
		}
		for _, each := range containersOf(pod) {
			for id := range k.manager.GetDevices(string(pod.UID), each.Name)[string(resource)] {
				have.Insert(id)
			}
		}
	}
	return node.Allocatable.ScalarResources[resource] > int64(have.Len())
}

func (k *kubelet) slots(resource string) int64 {
	_, allocatable, _ := k.manager.GetCapacity()
	quantity := allocatable[v1.ResourceName(resource)]
	return quantity.Value()
}
