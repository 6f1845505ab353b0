package disruption

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// seating is the places that a step has for pods, where pods that are alike may have each
// other's.
type seating struct {
	// places are how many pods of a kind a node takes in; new are the launches among these.
	places map[string]map[string]int
	new    map[string]*scheduling.Launch
	order  map[string][]string // by kind, the nodes of its places in order
	weight map[string]float64  // by kind, what a pod takes of what launches sell
}

// leaver is a node of a step, with its pods by kind.
type leaver struct {
	*subject
	kinds []string
	pods  map[string][]string
}

// seatingOf reads the places of a step, and the nodes that it drains.
func (c *carrier) seatingOf(step *Step, kindOf func(*corev1.Pod) string) (*seating, []*leaver) {
	s := &seating{places: map[string]map[string]int{}, new: map[string]*scheduling.Launch{}, order: map[string][]string{}, weight: map[string]float64{}}
	for i := range step.Launches {
		s.new[step.Launches[i].Name] = &step.Launches[i]
	}
	list, at := make([]*leaver, 0, len(step.Drain)), make(map[string]*leaver, len(step.Drain))
	for _, name := range step.Drain {
		at[name] = &leaver{subject: c.frame.at[name], pods: map[string][]string{}}
		list = append(list, at[name])
	}
	rooms := c.state.open(nil)
	for _, e := range byPod(step.Evictions) {
		kind := e.Pod
		if pod := c.state.pods[e.Pod]; pod != nil {
			kind = kindOf(pod)
		}
		at[e.From].pods[kind] = append(at[e.From].pods[kind], e.Pod)
		if s.places[kind] == nil {
			s.places[kind] = map[string]int{}
			s.weight[kind] = 1e-9 + rooms.share(c.state.gauge.sizes[e.Pod])
		}
		s.places[kind][e.To]++
	}
	for kind, places := range s.places {
		s.order[kind] = slices.Sorted(maps.Keys(places))
	}
	for _, l := range list {
		l.kinds = slices.Sorted(maps.Keys(l.pods))
	}
	return s, list
}

// likeness is the same for pods that ask for the same of nodes and of what else is given.
// Pods with something of their own are like none.
func likeness(pod *corev1.Pod, more ...any) string {
	if len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, ownVolume) || slices.ContainsFunc(pod.Spec.Containers, ownPort) {
		return podName(pod)
	}
	text, err := json.Marshal(append([]any{
		scheduling.PodRequests([]*corev1.Pod{pod})[0], pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations,
	}, more...))
	if err != nil {
		return podName(pod)
	}
	return "=" + string(text)
}

// ownVolume reports whether a volume may tie a pod to some nodes.
func ownVolume(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.HostPath == nil
}

// ownPort reports whether a container takes a port of its node.
func ownPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
}

// kinds remembers of which kind pods are.
type kinds struct {
	known map[*corev1.Pod]string
	names map[string]string
}

// of returns a pod's kind, which is worked out the first time.
func (k *kinds) of(pod *corev1.Pod, read func(*corev1.Pod) string) string {
	if kind, ok := k.known[pod]; ok {
		return kind
	}
	if k.known == nil {
		k.known, k.names = map[*corev1.Pod]string{}, map[string]string{}
	}
	kind := read(pod)
	if name, ok := k.names[kind]; ok {
		kind = name // one string for all of them
	}
	k.names[kind], k.known[pod] = kind, kind
	return kind
}
