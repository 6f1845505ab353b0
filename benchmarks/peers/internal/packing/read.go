package packing

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// folded is a class before resources have columns.
type folded struct {
	pods     []*corev1.Pod
	requests corev1.ResourceList
	rule     int // where its pods may go, in the list of rules
}

// fold puts pods together that ask for the same. Most classes share one of a few rules.
func fold(pods []*corev1.Pod) ([]folded, []rule, error) {
	classes, rules := map[string]int{}, map[string]int{}
	var out []folded
	var may []rule
	for _, pod := range pods {
		admitted := peer.Admitted(pod)
		amounts := requests(admitted)
		where, err := json.Marshal([]any{pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.Tolerations})
		if err != nil {
			return nil, nil, fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
		}
		what, err := json.Marshal(amounts)
		if err != nil {
			return nil, nil, fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
		}
		key := string(where) + string(what)
		i, ok := classes[key]
		if !ok {
			r, known := rules[string(where)]
			if !known {
				fresh, err := newRule(admitted)
				if err != nil {
					return nil, nil, fmt.Errorf("pod %s: %w", klog.KObj(pod), err)
				}
				r = len(may)
				rules[string(where)] = r
				may = append(may, fresh)
			}
			i = len(out)
			classes[key] = i
			out = append(out, folded{requests: amounts, rule: r})
		}
		out[i].pods = append(out[i].pods, pod)
	}
	return out, may, nil
}

// requests is what the pod takes, its slot included.
func requests(pod *corev1.Pod) corev1.ResourceList {
	list := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	list[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return list
}

// rule is where a pod may go.
type rule struct {
	selector    requirements.Set
	terms       []requirements.Set // any one; none is anywhere
	tolerations []corev1.Toleration
}

func newRule(pod *corev1.Pod) (rule, error) {
	r := rule{selector: requirements.FromLabels(pod.Spec.NodeSelector), tolerations: pod.Spec.Tolerations}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return r, nil
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		set, err := requirements.FromNodeSelector(term.MatchExpressions)
		if err != nil {
			return r, err
		}
		r.terms = append(r.terms, set)
	}
	return r, nil
}

// labels looks a label of a node to come up.
type labels func(key string) (string, bool)

func holds(set requirements.Set, of labels) bool {
	for r := range set.All() {
		value, ok := of(r.Key())
		if ok && !r.Has(value) || !ok && !r.AllowsAbsent() {
			return false
		}
	}
	return true
}

func (r *rule) admits(of labels, taints []corev1.Taint) bool {
	if !holds(r.selector, of) {
		return false
	}
	matched := len(r.terms) == 0
	for _, term := range r.terms {
		matched = matched || holds(term, of)
	}
	if !matched {
		return false
	}
	_, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), taints, r.tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, false)
	return !untolerated
}

type daemon struct {
	rule
	requests []int64
}

// reader finds the options of one pool after the other.
type reader struct {
	shop    *Shop
	classes []folded
	rules   []rule
	daemons []daemon
	options []Option
}

func (r *reader) pool(p scheduling.Problem, pool *scheduling.NodePool) error {
	if pool.Spec.Replicas != nil {
		return nil // launches nothing
	}
	set, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
	if err != nil {
		return fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	catalog := p.Catalog
	if own, ok := p.PoolCatalogs[pool.Name]; ok {
		catalog = own
	}
	for t := range catalog.All() {
		for _, o := range t.Offerings {
			if o.Launchable() && !p.Unavailable.Has(o.Key(t.Name), p.Now) {
				r.option(pool, set, t, o)
			}
		}
	}
	return nil
}

// option adds what the pool may buy and some class may use.
func (r *reader) option(pool *scheduling.NodePool, set requirements.Set, t *instancetypes.InstanceType, o offerings.Offering) {
	of := func(key string) (string, bool) {
		switch key {
		case scheduling.NodePoolLabel:
			return pool.Name, true
		case offerings.ZoneLabel:
			return o.Zone, true
		case offerings.CapacityTypeLabel:
			return string(o.CapacityType), true
		}
		for _, m := range []map[string]string{pool.Spec.Template.Metadata.Labels, o.Labels, t.Labels} {
			if value, ok := m[key]; ok {
				return value, true
			}
		}
		return "", false
	}
	if !holds(set, of) {
		return
	}
	option := Option{Pool: pool.Name, InstanceType: t.Name, Offering: o, Room: r.shop.vector(t.AllocatableOf(o)), Admits: make([]bool, len(r.classes))}
	for i := range r.daemons {
		if d := &r.daemons[i]; d.admits(of, pool.Spec.Template.Spec.Taints) {
			for j, n := range d.requests {
				option.Room[j] -= n
			}
		}
	}
	allowed := make([]bool, len(r.rules))
	for i := range r.rules {
		allowed[i] = r.rules[i].admits(of, pool.Spec.Template.Spec.Taints)
	}
	useful := false
	for i := range r.classes {
		option.Admits[i] = allowed[r.classes[i].rule] && fits(r.shop.Classes[i].Requests, option.Room) > 0
		useful = useful || option.Admits[i]
	}
	if useful {
		r.options = append(r.options, option)
	}
}

// fits is how many times the requests fit the room.
func fits(requests, room []int64) int {
	n := int64(1 << 30)
	for i, q := range requests {
		if room[i] < q {
			return 0
		}
		if q > 0 {
			n = min(n, room[i]/q)
		}
	}
	return int(n)
}
