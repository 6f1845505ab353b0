package consolidation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// ledger holds the machines and the node of each pod after each step.
type ledger struct {
	catalog  *instancetypes.Catalog
	machines map[string]peer.Machine // without pods
	at       map[string]string       // the machine of each pod
	pods     map[string]*corev1.Pod
	moved    int
}

func open(c disruption.Cluster) (*ledger, error) {
	l := &ledger{catalog: c.Catalog, machines: map[string]peer.Machine{}, at: map[string]string{}, pods: map[string]*corev1.Pod{}}
	for _, node := range c.Nodes {
		m := peer.Machine{NodePool: node.Labels[scheduling.NodePoolLabel], InstanceType: node.Labels[corev1.LabelInstanceTypeStable], Labels: node.Labels}
		var err error
		m.Offering, err = l.offering(offerings.Key{
			InstanceType: m.InstanceType, Zone: node.Labels[corev1.LabelTopologyZone], CapacityType: offerings.CapacityType(node.Labels[offerings.CapacityTypeLabel]),
		})
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", node.Name, err)
		}
		l.machines[node.Name] = m
	}
	for _, pod := range c.Running {
		name := scheduling.PodName(pod)
		l.pods[name], l.at[name] = pod, pod.Spec.NodeName
	}
	return l, nil
}

func (l *ledger) offering(key offerings.Key) (offerings.Offering, error) {
	o, ok := l.catalog.Lookup(key)
	if !ok || o.ReservationID != key.ReservationID {
		return o, fmt.Errorf("the catalog does not sell %v", key)
	}
	return o, nil
}

// take carries a step out. Machines are bought as their first options.
func (l *ledger) take(s *disruption.Step) error {
	for i := range s.Launches {
		launch := &s.Launches[i]
		if _, taken := l.machines[launch.Name]; taken {
			return fmt.Errorf("launch %s: there is a node of that name", launch.Name)
		}
		option := launch.Options[0]
		o, err := l.offering(option.Key())
		if err != nil {
			return fmt.Errorf("launch %s: %w", launch.Name, err)
		}
		l.machines[launch.Name] = peer.Machine{NodePool: launch.NodePool, InstanceType: option.InstanceType, Offering: o, Labels: launch.Labels}
	}
	for _, e := range s.Evictions {
		if l.at[e.Pod] != e.From {
			return fmt.Errorf("pod %s is to leave %s and is on %q", e.Pod, e.From, l.at[e.Pod])
		}
		if _, ok := l.machines[e.To]; !ok {
			return fmt.Errorf("pod %s is to go to %s, which is not there", e.Pod, e.To)
		}
		l.at[e.Pod] = e.To
		l.moved++
	}
	for _, name := range s.Drain {
		if _, ok := l.machines[name]; !ok {
			return fmt.Errorf("node %s is to go and is not there", name)
		}
		delete(l.machines, name)
	}
	for pod, node := range l.at {
		if _, ok := l.machines[node]; !ok {
			return fmt.Errorf("pod %s is left on %s, which has gone", pod, node)
		}
	}
	return nil
}

// outcome is the machines as they stand, as if they had been bought anew.
func (l *ledger) outcome() peer.Outcome {
	on := map[string][]*corev1.Pod{}
	for _, pod := range slices.Sorted(maps.Keys(l.at)) {
		on[l.at[pod]] = append(on[l.at[pod]], l.pods[pod])
	}
	var out peer.Outcome
	for _, name := range slices.Sorted(maps.Keys(l.machines)) {
		m := l.machines[name]
		m.Pods = on[name]
		out.Machines = append(out.Machines, m)
	}
	return out
}

func (l *ledger) point() Point {
	return Point{Moved: l.moved, Price: l.outcome().Price(), Nodes: len(l.machines)}
}
