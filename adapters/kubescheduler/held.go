package kubescheduler

import (
	"context"
	"math"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// held are the pods that [Pinned] leaves one node, with the placement that it followed last, and those without a plan that it
// keeps from the room of others, with none. They must be tried again when this placement changes or gets old, or when room
// becomes free, which no event of the API server says.
type held struct {
	mu   sync.Mutex
	pods map[types.UID]heldPod
}

type heldPod struct {
	pod *corev1.Pod
	at  Placement
}

func (h *held) add(pod *corev1.Pod, at Placement) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pods == nil {
		h.pods = map[types.UID]heldPod{}
	}
	h.pods[pod.UID] = heldPod{pod, at}
}

func (h *held) remove(pod *corev1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pods, pod.UID)
}

// take removes the pods for which stale is true, and returns them by name.
func (h *held) take(stale func(heldPod) bool) map[string]*corev1.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]*corev1.Pod{}
	for uid, x := range h.pods {
		if stale(x) {
			out[scheduling.PodName(x.pod)] = x.pod
			delete(h.pods, uid)
		}
	}
	return out
}

// pollEvery polls until the context ends.
func (p *Plugin) pollEvery(ctx context.Context, every time.Duration, file *planFile) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.poll(ctx, file)
		}
	}
}

// poll reads a changed plan file, and has pods tried again whose placement has changed or is old. file may be nil.
func (p *Plugin) poll(ctx context.Context, file *planFile) {
	log := klog.FromContext(ctx)
	if file != nil {
		changed, err := file.reload()
		if err != nil && file.isNew(err) {
			log.Error(err, "The plan file is not read; pods are scheduled as without a plan once the last one is old", "plugin", Name)
		}
		if changed {
			log.Info("The plan was read", "plugin", Name, "file", file.path, "modified", file.modified)
		}
	}
	if p.handle == nil {
		return
	}
	sum := p.plannedRoom(math.MinInt32).sum()
	opened := sum != p.room
	p.room = sum
	again := p.held.take(func(x heldPod) bool {
		pod, err := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().Pods(x.pod.Namespace).Get(x.pod.Name)
		if err != nil || pod.UID != x.pod.UID || pod.Spec.NodeName != "" {
			return true // it is gone or bound: kube-scheduler ignores it
		}
		at, err := p.source.Placement(pod)
		if planned := err == nil && !p.old(at); !planned && x.at.equal(Placement{}) {
			return opened
		}
		return err != nil || !at.equal(x.at) || p.old(at)
	})
	if len(again) > 0 {
		p.handle.Activate(log, again)
	}
}

// EventsToRegister returns the events that end the wait of a pod: its node joins, or gets the label of its launch; or a node has
// more room for a pod without a plan.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeLabel | fwk.UpdateNodeAllocatable}, QueueingHintFn: p.awaited},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodScaleDown}, QueueingHintFn: p.awaited},
	}, nil
}

// awaited wakes a planned pod if the node is its planned one: other filters wake it where it does not fit there. Pods without a plan are
// woken by all events: rather once too often than never.
func (p *Plugin) awaited(_ klog.Logger, pod *corev1.Pod, _, changed any) (fwk.QueueingHint, error) {
	at, err := p.source.Placement(pod)
	node, _ := changed.(*corev1.Node)
	if err == nil && !p.old(at) && (node == nil || !at.admits(node)) {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}
