package peer

import (
	"errors"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// shownFaults is the largest number of faults that an error names.
const shownFaults = 5

// Check returns an error unless the machines exist, belong to their pools and hold their pods:
// requests and daemons within allocatable, node selectors, required node affinity and taints
// as Kubernetes' own helpers read them, and no pod twice. It ignores limits, spread and
// affinity between pods.
func Check(p scheduling.Problem, o Outcome) error {
	c := &checker{problem: p, pools: map[string]*scheduling.NodePool{}, pending: map[*corev1.Pod]bool{}}
	for _, pool := range p.NodePools {
		c.pools[pool.Name] = pool
	}
	for _, pod := range p.Pods {
		c.pending[pod] = true
	}
	var faults []error
	if len(o.Impossible) > 0 {
		faults = append(faults, errors.New(o.Impossible[0]))
	}
	for i, m := range o.Machines {
		if err := c.machine(m); err != nil {
			if len(faults) == shownFaults {
				faults = append(faults, errors.New("and more"))
				break
			}
			faults = append(faults, fmt.Errorf("machine %d (%s in %s): %w", i, m.InstanceType, m.Offering.Zone, err))
		}
	}
	return errors.Join(faults...)
}

type checker struct {
	problem scheduling.Problem
	pools   map[string]*scheduling.NodePool
	// pending are the pods that no machine has claimed yet.
	pending map[*corev1.Pod]bool
}

func (c *checker) machine(m Machine) error {
	pool := c.pools[m.NodePool]
	if pool == nil {
		return fmt.Errorf("there is no pool %q", m.NodePool)
	}
	t, ok := c.problem.CatalogOf(pool.Name).Get(m.InstanceType)
	if !ok {
		return errors.New("the catalog has no such type")
	}
	o, err := c.offering(t, m.Offering)
	if err != nil {
		return err
	}
	node, err := NodeOf(pool, m.Labels, t, o)
	if err != nil {
		return err
	}
	if len(m.Pods) == 0 {
		return errors.New("holds no pod")
	}
	return c.fits(m, node)
}

// offering looks a purchase up in the catalog, because a planner must not make up a price.
func (c *checker) offering(t *instancetypes.InstanceType, want offerings.Offering) (offerings.Offering, error) {
	for _, o := range t.Offerings {
		if o.Zone != want.Zone || o.CapacityType != want.CapacityType || o.ReservationID != want.ReservationID {
			continue
		}
		switch {
		case o.Price != want.Price:
			return o, fmt.Errorf("costs %s, not %s", o.Price, want.Price)
		case !onSale(&c.problem, t, o):
			return o, errors.New("cannot be bought now")
		}
		return o, nil
	}
	return want, errors.New("the type is not sold there")
}

// onSale is whether a machine can be bought now.
func onSale(p *scheduling.Problem, t *instancetypes.InstanceType, o offerings.Offering) bool {
	return o.Launchable() && !p.Unavailable.Has(o.Key(t.Name), p.Now)
}

// Machines yields the offerings that a pool may buy, with the node that each becomes.
func Machines(p *scheduling.Problem, pool *scheduling.NodePool) iter.Seq2[Machine, *corev1.Node] {
	return func(yield func(Machine, *corev1.Node) bool) {
		if pool.Spec.Replicas != nil {
			return // a static NodePool launches no machines for pending pods
		}
		for t := range p.CatalogOf(pool.Name).All() {
			for _, o := range t.Offerings {
				if !onSale(p, t, o) {
					continue
				}
				node, err := NodeOf(pool, nil, t, o)
				if err == nil && !yield(Machine{NodePool: pool.Name, InstanceType: t.Name, Offering: o}, node) {
					return
				}
			}
		}
	}
}

// NodeOf is the node that the machine becomes, with values for labels that the pool
// leaves open. It is an error that the pool does not allow it.
func NodeOf(pool *scheduling.NodePool, open map[string]string, t *instancetypes.InstanceType, o offerings.Offering) (*corev1.Node, error) {
	set, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return nil, err
	}
	labels := t.NodeLabels(o)
	for r := range set.All() {
		if value, ok := open[r.Key()]; ok && labels[r.Key()] == "" {
			labels[r.Key()] = value
		}
	}
	for key, value := range pool.Spec.Template.Metadata.Labels {
		labels[key] = value
	}
	labels[scheduling.NodePoolLabel] = pool.Name
	for r := range set.All() {
		value, ok := labels[r.Key()]
		if !ok && len(r.Values()) == 1 && !r.Complement() {
			labels[r.Key()] = r.Values()[0] // a label that the pool itself gives
			continue
		}
		if ok && !r.Has(value) || !ok && !r.AllowsAbsent() {
			return nil, fmt.Errorf("the pool does not allow it: %s", r)
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.NodeSpec{Taints: pool.Spec.Template.Spec.Taints},
		Status:     corev1.NodeStatus{Allocatable: t.AllocatableOf(o)},
	}, nil
}

// fits reports the first reason why the pods cannot all run on the node.
func (c *checker) fits(m Machine, node *corev1.Node) error {
	var pods []*corev1.Pod
	for _, ds := range c.problem.DaemonSets {
		if pod := (&corev1.Pod{Spec: ds.Spec.Template.Spec}); Suits(pod, node) == nil {
			pods = append(pods, pod)
		}
	}
	for _, pod := range m.Pods {
		if !c.pending[pod] {
			return fmt.Errorf("pod %s is placed twice or was not pending", klog.KObj(pod))
		}
		c.pending[pod] = false
		if err := Suits(pod, node); err != nil {
			return fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
		}
		pods = append(pods, pod)
	}
	return Holds(node, pods...)
}

// Holds says which resource of a node is too little for the pods; nil for none.
func Holds(node *corev1.Node, pods ...*corev1.Pod) error {
	sum := corev1.ResourceList{}
	for _, pod := range pods {
		add(sum, schedulingtest.Admitted(pod))
	}
	for name, q := range sum {
		if room := node.Status.Allocatable[name]; q.Cmp(room) > 0 {
			return fmt.Errorf("%s of %s are requested, %s are there", q.String(), name, room.String())
		}
	}
	return nil
}

// Suits returns the label or taint that keeps the pod from the node as an error; nil for none.
func Suits(pod *corev1.Pod, node *corev1.Node) error {
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return errors.Join(errors.New("the node's labels do not match"), err)
	}
	taint, found := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, true)
	if found {
		return fmt.Errorf("does not tolerate %s", taint.ToString())
	}
	return nil
}

func add(sum corev1.ResourceList, pod *corev1.Pod) {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	for name, q := range requests {
		total := sum[name].DeepCopy()
		total.Add(q)
		sum[name] = total
	}
}
