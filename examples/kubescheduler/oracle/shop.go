package oracle

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// shop lists the machines that could be bought for one pod alone.
type shop struct {
	*world
	byPod wishes // values that the pod asks for
	asked wishes // values that the pod or a daemon asks for
}

func newShop(w *world, pod *corev1.Pod) *shop {
	s := &shop{world: w, byPod: wishes{}, asked: wishes{}}
	s.byPod.addSpec(&pod.Spec)
	s.asked.addSpec(&pod.Spec)
	for _, d := range w.daemons {
		s.asked.addSpec(&d.set.Spec.Template.Spec)
	}
	return s
}

// item is an offering of a type that a pool may buy now.
type item struct {
	*world
	pool     *scheduling.NodePool
	kind     *instancetypes.InstanceType
	offering *offering
	given    map[string]string // labels that the pool gives
	rules    rules
	choices  []map[string]string // for the labels that the pool leaves open
}

// items yields the machines that the pool may buy now, regardless of its limits.
func (s *shop) items(pool *scheduling.NodePool) iter.Seq[*item] {
	return func(yield func(*item) bool) {
		catalog := s.problem.CatalogOf(pool.Name)
		if pool.Spec.Replicas != nil || pool.DeletionTimestamp != nil || catalog == nil {
			return
		}
		given := givenLabels(pool)
		rules := newRules(pool)
		choices := s.choices(rules, given, s.soldBy(catalog))
		for t := range catalog.All() {
			for i := range t.Offerings {
				x := &item{world: s.world, pool: pool, kind: t, offering: &t.Offerings[i], given: given, rules: rules, choices: choices}
				if s.onSale(x) && x.agrees() && !yield(x) {
					return
				}
			}
		}
	}
}

// onSale reports whether the offering can be launched at all.
func (s *shop) onSale(x *item) bool {
	o := x.offering
	return o.Launchable() && !s.problem.Unavailable.Has(o.Key(x.kind.Name), s.problem.Now)
}

// agrees reports whether the pool's labels contradict none of the offering's.
func (i *item) agrees() bool {
	for key, value := range i.kind.NodeLabels(*i.offering) {
		if given, ok := i.given[key]; ok && given != value {
			return false
		}
	}
	return true
}

// givenLabels are the labels that a pool puts on all of its nodes.
func givenLabels(pool *scheduling.NodePool) map[string]string {
	given := map[string]string{}
	maps.Copy(given, pool.Spec.Template.Metadata.Labels)
	given[scheduling.NodePoolLabel] = pool.Name
	if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil && ref.Group != "" && ref.Kind != "" {
		given[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	for alias, key := range aliases() {
		if value, ok := given[alias]; ok {
			given[key] = value
		}
	}
	return given
}

// machines are the nodes that the item can become, one for each choice of labels that the pool's
// requirements allow.
func (i *item) machines(name string) ([]Node, error) {
	var out []Node
	o := scheduling.LaunchOption{InstanceType: i.kind.Name, Zone: i.offering.Zone, CapacityType: i.offering.CapacityType, ReservationID: i.offering.ReservationID}
	for _, choice := range i.choices {
		own := maps.Clone(i.given)
		maps.Copy(own, choice)
		node, err := i.launchNode(name, &scheduling.Launch{Name: name, NodePool: i.pool.Name, Labels: own, Taints: i.pool.Spec.Template.Spec.Taints}, &o)
		if err != nil {
			return nil, err
		}
		if i.rules.allow(node) {
			out = append(out, Node{Node: node, Machine: i.describe(choice), Daemons: i.daemonsOn(node, i.problem.CatalogOf(i.pool.Name))})
		}
	}
	return out, nil
}

// describe words the item with the labels that were chosen.
func (i *item) describe(chosen map[string]string) string {
	text := fmt.Sprintf("empty %s %s in %s of pool %s", i.kind.Name, i.offering.CapacityType, i.offering.Zone, i.pool.Name)
	if len(chosen) > 0 {
		text += " with " + labels.FormatLabels(chosen)
	}
	return text
}
