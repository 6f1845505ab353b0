package provisioning_test

import (
	"iter"
	"math"
	"math/bits"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// twinTies holds the topology terms of a tiny problem: anti-affinity and spread over hosts and over zones. The pods
// with a spread, or with anti-affinity over zones, are the pods that it counts.
type twinTies struct {
	pods  []*corev1.Pod
	apart []podSet // by pod, those it keeps away from its host, or they it
	ties  [][]twinTie
	zones map[string]int // numbers the zones
}

// twinTie is a spread of one pod, or anti-affinity over zones.
type twinTie struct {
	key      string
	skew     int
	apart    bool // a zone has one pod at most
	counted  podSet
	selector labels.Selector
	// Of spread over zones: how many pods run in each zone, and whether it has nodes,
	// and which zones a pod could be in.
	running [maxZones]int
	stands  [maxZones]bool
	open    [maxZones]bool
}

const maxZones = 4

func newTwinTies(p scheduling.Problem) twinTies {
	t := twinTies{pods: p.Pods, apart: make([]podSet, len(p.Pods)), ties: make([][]twinTie, len(p.Pods))}
	for i, pod := range p.Pods {
		for _, s := range keptAway(pod, corev1.LabelHostname) {
			for j, other := range p.Pods {
				if i != j && s.Matches(labels.Set(other.Labels)) {
					t.apart[i] |= 1 << j
					t.apart[j] |= 1 << i
				}
			}
		}
		for _, c := range pod.Spec.TopologySpreadConstraints {
			t.ties[i] = append(t.ties[i], twinTie{key: c.TopologyKey, skew: int(c.MaxSkew), selector: selectorOf(c.LabelSelector)})
		}
		for _, s := range keptAway(pod, corev1.LabelTopologyZone) {
			t.ties[i] = append(t.ties[i], twinTie{key: corev1.LabelTopologyZone, skew: 1, apart: true, selector: s})
		}
		for k := range t.ties[i] {
			for j, other := range p.Pods {
				if t.ties[i][k].selector.Matches(labels.Set(other.Labels)) {
					t.ties[i][k].counted |= 1 << j
				}
			}
		}
	}
	return t
}

// keptAway are the selectors of a pod's anti-affinity over a label.
func keptAway(pod *corev1.Pod, key string) (out []labels.Selector) {
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term.TopologyKey == key {
				out = append(out, selectorOf(term.LabelSelector))
			}
		}
	}
	return out
}

func selectorOf(s *metav1.LabelSelector) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// matching counts the pods that a selector matches.
func matching(s labels.Selector, pods []*corev1.Pod) (n int) {
	for _, pod := range pods {
		if s.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n
}

// each goes through the pods of a set.
func (t *twinTies) each(set podSet) iter.Seq2[int, *corev1.Pod] {
	return func(yield func(int, *corev1.Pod) bool) {
		for ; set != 0; set &= set - 1 {
			if i := bits.TrailingZeros(uint(set)); !yield(i, t.pods[i]) {
				return
			}
		}
	}
}

// allowHost reports whether the pods of a group may share a machine of the option. A
// host may always be empty, so that none holds more than the skew.
func (t *twinTies) allowHost(o twinOption, group podSet) bool {
	for i, pod := range t.each(group) {
		if group&t.apart[i] != 0 {
			return false
		}
		for _, s := range keptAway(pod, corev1.LabelHostname) {
			if matching(s, o.running) > 0 {
				return false
			}
		}
		for _, other := range o.running {
			for _, s := range keptAway(other, corev1.LabelHostname) {
				if matching(s, []*corev1.Pod{pod}) > 0 {
					return false
				}
			}
		}
		for _, tie := range t.ties[i] {
			if tie.key == corev1.LabelHostname && bits.OnesCount(uint(group&tie.counted))+matching(tie.selector, o.running) > tie.skew {
				return false
			}
		}
	}
	return true
}

// zonal reports whether it matters in which zone pods of a group are: they are spread
// over zones, and with all that are placed there could be too many in one.
func (t *twinTies) zonal(group, placed podSet) bool {
	for i := range t.each(group) {
		for _, tie := range t.ties[i] {
			if tie.key == corev1.LabelTopologyZone && bits.OnesCount(uint(placed&tie.counted))+lo.Sum(tie.running[:]) > tie.skew {
				return true
			}
		}
	}
	return false
}

// sound reports whether every pod that a spread counts holds it, and the other way
// round, which is all that the twin understands.
func (t *twinTies) sound() bool {
	for i := range t.pods {
		for _, tie := range t.ties[i] {
			if tie.counted&(1<<i) == 0 {
				return false
			}
			for j := range t.each(tie.counted) {
				if len(t.ties[j]) != len(t.ties[i]) {
					return false
				}
			}
		}
	}
	return true
}

// union is the pods of all groups.
func union(groups []podSet) (all podSet) {
	for _, group := range groups {
		all |= group
	}
	return all
}

// survey works out where pods that are spread over zones run, and where they could be.
func (t *twinTies) survey(w *twin) {
	t.zones = map[string]int{}
	for i := range w.options {
		o := &w.options[i]
		zone := o.labels[corev1.LabelTopologyZone]
		if _, known := t.zones[zone]; !known {
			t.zones[zone] = len(t.zones)
		}
		o.zone = t.zones[zone]
	}
	for i := range t.ties {
		for k := range t.ties[i] {
			tie := &t.ties[i][k]
			for _, o := range w.options {
				if o.pool == noPool {
					tie.running[o.zone] += matching(tie.selector, o.running)
					tie.stands[o.zone] = true
				}
			}
			for j := range t.each(tie.counted) {
				for _, o := range w.fit(1 << j) {
					if w.within([]int{o}) && w.flexible([]podSet{1 << j}, []int{o}) {
						tie.open[w.options[o].zone] = true
					}
				}
			}
		}
	}
}

// allowZones reports whether the pods can be in the zones of the groups on the chosen options: if they are bound one by
// one, the zone with the fewest first, none exceeds the skew unless the final counts do. With open, all zones count in
// which a pod with the spread could be, otherwise only zones with machines.
func (t *twinTies) allowZones(w *twin, groups []podSet, chosen []int, open bool) bool {
	for i := range t.each(union(groups)) {
		for k := range t.ties[i] {
			tie := &t.ties[i][k]
			if tie.key == corev1.LabelTopologyZone && !tie.allows(w, groups, chosen, open) {
				return false
			}
		}
	}
	return true
}

func (tie *twinTie) allows(w *twin, groups []podSet, chosen []int, open bool) bool {
	counts, exists := tie.running, tie.stands
	var fresh [maxZones]bool
	for g, group := range groups {
		zone := w.options[chosen[g]].zone
		n := bits.OnesCount(uint(group & tie.counted))
		counts[zone] += n
		exists[zone] = true
		fresh[zone] = fresh[zone] || n > 0
	}
	least := math.MaxInt
	for zone, n := range counts {
		if exists[zone] || open && tie.open[zone] {
			least = min(least, n)
		}
	}
	if tie.apart {
		least = 0
	}
	for zone, n := range counts {
		if fresh[zone] && n-least > tie.skew {
			return false
		}
	}
	return true
}
