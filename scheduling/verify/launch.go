package verify

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// launch checks one launch with all of its options.
func (j *judge) launch(l *scheduling.Launch) {
	r := &resolved{Launch: l, object: launchName(l), pool: j.pools[l.NodePool]}
	j.launches = append(j.launches, r)
	j.launchHead(r)
	for _, name := range l.Pods {
		if t := j.pods[name]; t != nil {
			r.pods = append(r.pods, t)
		}
	}
	if r.pool == nil {
		j.add(PoolUnknown, r.object, "pool %q is not in the problem", l.NodePool)
		return
	}
	if r.pool.closed != "" {
		j.add(PoolClosed, r.object, "pool %s %s", r.pool.Name, r.pool.closed)
	}
	j.launchTaints(r)
	j.launchLabels(r)
	j.options(r)
	j.launchRequests(r)
	j.minimumValues(r)
	j.flexible(r)
	if first := r.first(); first != nil && first.offering.ReservationID != "" {
		j.used[first.offering.ReservationID]++
	}
}

// launchHead checks what needs no look at the problem.
func (j *judge) launchHead(r *resolved) {
	if r.Name == "" {
		j.add(LaunchName, r.object, "the name is empty")
	}
	if j.named[r.Name] {
		j.add(LaunchName, r.object, "the name is taken already")
	}
	j.named[r.Name] = true
	if len(r.Pods) == 0 {
		j.add(LaunchEmpty, r.object, "has no pods")
	}
	if len(r.Options) == 0 {
		j.add(NoOptions, r.object, "has no options")
	} else if r.Price != r.Options[0].Price {
		j.add(LaunchPrice, r.object, "costs %v, its first option %v", r.Price, r.Options[0].Price)
	}
}

func (j *judge) launchTaints(r *resolved) {
	spec := &r.pool.Spec.Template.Spec
	if !sameTaints(r.Taints, spec.Taints) {
		j.add(LaunchTaints, r.object, "taints %s, the pool has %s", taintText(r.Taints), taintText(spec.Taints))
	}
	if !sameTaints(r.StartupTaints, spec.StartupTaints) {
		j.add(LaunchTaints, r.object, "start-up taints %s, the pool has %s", taintText(r.StartupTaints), taintText(spec.StartupTaints))
	}
}

// sameTaints compares as sets.
func sameTaints(a, b []corev1.Taint) bool {
	within := func(a, b []corev1.Taint) bool {
		return !slices.ContainsFunc(a, func(t corev1.Taint) bool {
			return !slices.ContainsFunc(b, func(o corev1.Taint) bool {
				return o.Key == t.Key && o.Value == t.Value && o.Effect == t.Effect
			})
		})
	}
	return within(a, b) && within(b, a)
}

// launchLabels checks that the launch carries the pool's labels, a value for every
// label that the pool wants on its nodes and leaves open, and nothing else.
func (j *judge) launchLabels(r *resolved) {
	template := r.pool.Spec.Template.Metadata.Labels
	for _, key := range slices.Sorted(maps.Keys(template)) {
		if got, ok := r.Labels[requirements.NormalizeKey(key)]; !ok || got != template[key] {
			j.add(LaunchLabels, r.object, "label %s is %q, the pool has %q", key, got, template[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		value := r.Labels[key]
		asks := about(key, r.pool.asks)
		if given, ok := r.pool.given[key]; ok {
			if value != given {
				j.add(LaunchLabels, r.object, "label %s is %q, the pool gives %q", key, value, given)
			}
		} else if len(asks) == 0 {
			j.add(LaunchLabels, r.object, "label %s is none that pool %s gives", key, r.pool.Name)
		}
		if !allHold(asks, candidate{value: value}) {
			j.add(LaunchLabels, r.object, "label %s is %q, which the pool's requirements exclude", key, value)
		}
		if messages := validation.IsValidLabelValue(value); len(messages) > 0 {
			j.add(LaunchLabels, r.object, "label %s is %q: %s", key, value, strings.Join(messages, "; "))
		}
	}
	for _, e := range r.pool.asks {
		key := requirements.NormalizeKey(e.key)
		_, given := r.pool.given[key]
		_, chosen := r.Labels[key]
		if r.pool.chooses(key) && !given && !chosen && !e.holds("", false) {
			j.add(LaunchLabels, r.object, "label %s has no value, although the pool requires one", key)
		}
	}
}

// launchRequests compares the stated requests with those of the pods and of the
// daemons on the first option.
func (j *judge) launchRequests(r *resolved) {
	first := r.first()
	if first == nil || len(r.pods) != len(r.Pods) {
		return
	}
	want := first.daemons.clone()
	for _, t := range r.pods {
		want.add(t.requests)
	}
	got := roundedUp(r.Requests)
	for _, name := range names(got, want) {
		if got.of(name).Cmp(want.of(name)) != 0 {
			j.add(LaunchRequests, r.object, "%s is %v, pods and daemons ask for %v", name, got.of(name), want.of(name))
		}
	}
}

// minimumValues checks how many options the launch has: enough distinct values for
// the pool's minValues, and no more options than the solver's limit unless minValues
// needs them.
func (j *judge) minimumValues(r *resolved) {
	least := r.pool.minValues()
	if j.strictMinValues() {
		for _, key := range slices.Sorted(maps.Keys(least)) {
			if n := distinct(r.machines, key); n < least[key] {
				j.add(MinValues, r.object, "%d values of %s, want at least %d", n, key, least[key])
			}
		}
	}
	if limit := j.maxOptions(); len(r.machines) > limit {
		needed := slices.ContainsFunc(slices.Collect(maps.Keys(least)), func(key string) bool {
			return distinct(r.machines[:len(r.machines)-1], key) < min(least[key], distinct(r.machines, key))
		})
		if !needed && !j.lastForVariety(r.machines) {
			j.add(TooManyOptions, r.object, "%d options, want at most %d", len(r.machines), limit)
		}
	}
}

func (w *world) strictMinValues() bool {
	return w.policy.MinValues != scheduling.MinValuesBestEffort
}

// enough reports whether the machines offer the number of values wanted of each key.
func enough(machines []*machine, least map[string]int) bool {
	for key, n := range least {
		if distinct(machines, key) < n {
			return false
		}
	}
	return true
}

func distinct(machines []*machine, key string) int {
	seen := make(map[string]bool)
	for _, m := range machines {
		if m == nil {
			continue
		}
		if v, ok := m.values(key); ok {
			seen[v] = true
		}
	}
	return len(seen)
}

// limits checks every pool's limits: its nodes and the first options of its launches
// together, and again with any one launch falling back to another of its options.
func (j *judge) limits() {
	for _, pl := range j.sortedPools() {
		limits := pl.limits()
		launches := j.ofPool(pl)
		if len(limits) == 0 || len(launches) == 0 {
			continue
		}
		total := j.poolTotal(pl)
		if over := above(total, limits); over != "" {
			j.add(Limits, "nodepool/"+pl.Name, "%s", over)
			continue
		}
		for _, r := range launches {
			for i, m := range r.machines {
				if i == 0 || m == nil {
					continue
				}
				if over := above(total.minus(r.first().capacity).plus(m.capacity), limits); over != "" {
					j.add(Limits, fmt.Sprintf("%s/options[%d]", r.object, i), "%s", over)
				}
			}
		}
	}
}

// ofPool returns the launches of a pool whose first option is known.
func (j *judge) ofPool(pl *pool) []*resolved {
	var out []*resolved
	for _, r := range j.launches {
		if r.pool == pl && r.first() != nil {
			out = append(out, r)
		}
	}
	return out
}

// poolTotal is the capacity of the pool's nodes and of the first options of its
// launches, with their number.
func (j *judge) poolTotal(pl *pool) amounts {
	total := pl.usage.clone()
	for _, r := range j.ofPool(pl) {
		total.add(r.first().capacity)
		total.add(amounts{scheduling.NodesResource: big.NewInt(1)})
	}
	return total
}

// above says which limits a total exceeds; "" for none. Meeting one exactly is fine.
func above(total, limits amounts) string {
	var parts []string
	for _, name := range names(limits) {
		if total.of(name).Cmp(limits.of(name)) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %v exceeds the limit of %v", name, total.of(name), limits.of(name)))
		}
	}
	return strings.Join(parts, ", ")
}

// launchHeadroom is what the pool may still launch for certain, whichever one of its launches
// falls back to another option.
func (j *judge) launchHeadroom(pl *pool) amounts {
	worst := amounts{}
	for _, r := range j.ofPool(pl) {
		for _, m := range r.machines {
			if m != nil {
				worst.raise(m.capacity.minus(r.first().capacity))
			}
		}
	}
	limits, total := pl.limits(), j.poolTotal(pl).plus(worst)
	left := make(map[corev1.ResourceName]*big.Int, len(limits))
	for name, n := range limits {
		left[name] = new(big.Int).Sub(n, total.of(name))
	}
	return left
}

// reservationCounts checks that the launches count on no more machines of a
// reservation than are left, also when any one launch falls back to another option.
func (j *judge) reservationCounts() {
	for _, id := range slices.Sorted(maps.Keys(j.used)) {
		if n, left := j.used[id], j.reservations[id]; n > left {
			j.add(Reservation, "reservation/"+id, "%d launches count on it, %d machines are left", n, left)
		}
	}
	for _, r := range j.launches {
		first := r.first()
		if first == nil {
			continue
		}
		also := make(map[string]bool)
		for i, m := range r.machines {
			if m == nil || m.offering.ReservationID == "" || m.offering.ReservationID == first.offering.ReservationID {
				continue
			}
			id := m.offering.ReservationID
			if !also[id] {
				also[id] = true
				j.listed[id]++
			}
			if n, left := j.used[id]+1, j.reservations[id]; n > left {
				j.add(Reservation, fmt.Sprintf("%s/options[%d]", r.object, i), "%d launches would count on %s, %d machines are left", n, id, left)
			}
		}
	}
}
