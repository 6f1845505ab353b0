package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// How many types an explanation of a launch lists.
const (
	mostRunnersUp = 5
	mostCheaper   = 5
	mostOfAReason = 2 // among the cheaper types
)

// Launch explains the launch of a name. The error is an [UnknownNameError], or says
// that the launch buys what is not on sale.
func (x *Explainer) Launch(name string) (*LaunchExplanation, error) {
	i := slices.IndexFunc(x.plan.Launches, func(l Launch) bool { return l.Name == name })
	if i < 0 {
		e := &UnknownNameError{Kind: "launch", Name: name}
		var all []string
		for i := range x.plan.Launches {
			all = append(all, x.plan.Launches[i].Name)
		}
		e.Near = near(name, all)
		return nil, e
	}
	l, m := &x.plan.Launches[i], &x.e.machines[i]
	if m.template < 0 {
		return nil, fmt.Errorf("launch %s: %w: no node pool of the problem sells what it buys", name, ErrInvalid)
	}
	out := &LaunchExplanation{
		Launch: name, NodePool: l.NodePool, Option: l.Options[0], Options: len(l.Options), Rooms: x.machineRooms(m),
		RunnersUp: []Option{}, Cheaper: []Rejected{},
	}
	sortRooms(out.Rooms)
	fullest := out.Rooms[0]
	out.Pods = x.podShares(x.named(l.Pods), fullest.Resource, fullest.Allocatable)
	newRivalry(x.e, m).run(out)
	return out, nil
}

// named returns the pods of some names.
func (x *Explainer) named(names []string) []*corev1.Pod {
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	var out []*corev1.Pod
	x.pods(func(name string, pod *corev1.Pod) {
		if want[name] {
			want[name] = false
			out = append(out, pod)
		}
	})
	return out
}

// machineRooms says how full a machine of the plan is.
func (x *Explainer) machineRooms(m *standing) []Room {
	shape := &x.e.offers.shapes[x.e.offers.offers[m.offer].shape]
	daemons := make([]int64, len(x.e.table.names))
	for i, row := range x.e.offered[m.template].daemons {
		if row.Has(m.offer) {
			for d, q := range x.e.daemons[i].requests {
				daemons[d] += q
			}
		}
	}
	load := x.e.load(m.items)
	var out []Room
	for _, name := range x.e.requestable() {
		d := x.e.table.index[name]
		if shape.allocatable[d] == 0 && load[d] == 0 {
			continue
		}
		out = append(out, Room{
			Resource: string(name), Allocatable: shape.allocatable[d], Daemons: daemons[d], Planned: load[d],
			Free: shape.allocatable[d] - daemons[d] - load[d],
		})
	}
	return out
}

// load is what pods ask for together.
func (s *scene) load(items []portion) []int64 {
	sum := make([]int64, len(s.table.names))
	for _, it := range items {
		for d, q := range s.planned[it.class].requests {
			sum[d] += q * it.n
		}
	}
	return sum
}

// rivalry asks of every offering whether it would hold the pods of a launch.
type rivalry struct {
	*explainer
	launch *standing
	ledger *ledger // with what the launch takes given back
	groups []int
	load   []int64
	keys   []tie // constraints to which the place of the machine matters
	ranks  []int32
}

func newRivalry(e *explainer, m *standing) *rivalry {
	r := &rivalry{explainer: e, launch: m, ledger: e.ledger.clone(), load: e.load(m.items), ranks: e.weightRank()}
	r.ledger.spend(purchase{template: m.template, offer: m.offer}, -1)
	among := map[int]bool{}
	for _, it := range m.items {
		class := e.planned[it.class]
		if !slices.Contains(r.groups, class.group) {
			r.groups = append(r.groups, class.group)
		}
		for _, target := range e.bonds.targets.sets[class.among] {
			among[int(target)] = true
		}
	}
	here := map[int]bool{}
	for _, it := range m.items {
		here[e.planned[it.class].bonds] = true
	}
	for i, b := range e.bonds.list {
		for _, t := range b.ties {
			if t.weight == 0 && !t.perHost() && (here[i] || among[t.target]) && !slices.ContainsFunc(r.keys, func(k tie) bool { return k.key == t.key }) {
				r.keys = append(r.keys, t)
			}
		}
	}
	return r
}

// run fills in what becomes of all offerings.
func (r *rivalry) run(out *LaunchExplanation) {
	own := r.offers.offers[r.launch.offer].instanceType.Name
	price := r.offers.offers[r.launch.offer].offering.Price
	best, rejected := map[string]int{}, map[string]purchase{}
	counts := map[Reason]int{}
	for ti, v := range r.templates {
		v.within.Each(func(o int) {
			x := &r.offers.offers[o]
			name := x.instanceType.Name
			reason := r.wrong(ti, o)
			if reason.Code == "" {
				if have, ok := best[name]; name != own && (!ok || x.cost < r.offers.offers[have].cost) {
					best[name] = o
				}
				return
			}
			counts[reason]++
			if have, ok := rejected[name]; x.offering.Price < price && (!ok || x.offering.Price < r.offers.offers[have.offer].offering.Price) {
				rejected[name] = purchase{template: ti, offer: o}
			}
		})
	}
	out.RuledOut = sortedReasons(counts)
	out.Others = len(best)
	names := slices.Sorted(maps.Keys(best))
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := &r.offers.offers[best[a]], &r.offers.offers[best[b]]
		return cmp.Or(cmp.Compare(x.cost, y.cost), cmp.Compare(x.offering.Price, y.offering.Price))
	})
	for _, name := range names[:min(len(names), mostRunnersUp)] {
		out.RunnersUp = append(out.RunnersUp, r.offers.offers[best[name]].option())
	}
	cheaper := slices.DeleteFunc(slices.Sorted(maps.Keys(rejected)), func(name string) bool {
		_, holds := best[name]
		return holds || name == own
	})
	slices.SortStableFunc(cheaper, func(a, b string) int {
		return cmp.Compare(r.offers.offers[rejected[b].offer].offering.Price, r.offers.offers[rejected[a].offer].offering.Price)
	})
	told := map[Reason]int{}
	for _, name := range cheaper {
		at := rejected[name]
		reason := r.wrong(at.template, at.offer)
		if told[reason]++; len(out.Cheaper) < mostCheaper && told[reason] <= mostOfAReason {
			out.Cheaper = append(out.Cheaper, Rejected{r.offers.offers[at.offer].option(), r.exactly(at, reason)})
		}
	}
}

// option is the offer as launches list it.
func (o *offer) option() Option {
	return Option{
		InstanceType: o.instanceType.Name, Zone: o.offering.Zone, CapacityType: o.offering.CapacityType,
		Price: o.offering.Price, ReservationID: o.offering.ReservationID, InterruptionRate: o.offering.InterruptionRate,
		Estimated: o.offering.Estimated,
	}
}

// wrong says why an offer would not do for the launch; the code is empty if it would.
func (r *rivalry) wrong(ti, o int) Reason {
	v := r.templates[ti]
	for _, g := range r.groups {
		if row := r.offered[ti].rows[g]; row == nil || !row.Has(o) {
			return r.unfit(ti, o, g)
		}
	}
	x := &r.offers.offers[o]
	if x.excluded.code != "" {
		return r.solver.reason(x.excluded)
	}
	if !x.launchable {
		return r.notOnSale(v.pool.Name, x)
	}
	if r.ranks[v.number] > r.ranks[r.templates[r.launch.template].number] {
		return Reason{Code: ReasonWeight, Detail: "node pool " + v.pool.Name + " has a lower weight"}
	}
	room, ok := r.room(ti, o)
	if !ok {
		return Reason{Code: ReasonResources, Detail: "daemons alone do not fit"}
	}
	if lacking := r.lacking(room, r.load); len(lacking) > 0 {
		return r.resourceReason(lacking)
	}
	p := purchase{template: ti, offer: o}
	if id := r.ledger.reservation(p); id != "" && r.ledger.supply[id] < 1 {
		return Reason{Code: ReasonReservation, Detail: "reservation " + id + " is used up"}
	}
	if !r.ledger.affords(p) {
		return Reason{Code: ReasonLimits, Detail: "the limits of node pool " + v.pool.Name + " leave no room for it"}
	}
	for i := range r.keys {
		key := r.keys[i].key
		here, _ := r.labelOf(r.launch.template, r.launch.offer, key)
		if there, _ := r.labelOf(ti, o, key); here != there {
			return Reason{Code: r.keys[i].code(), Detail: fmt.Sprintf("%s counts on its being in %s", r.keys[i].text(), here)}
		}
	}
	return Reason{}
}

// unfit says which constraint of a group keeps an offer from doing.
func (r *rivalry) unfit(ti, o, g int) Reason {
	only := model.NewBits(len(r.offers.offers))
	only.Set(o)
	s := r.screenWithin(r.templates[ti], ti, r.classes.groups[g], only)
	for reason := range s.counts {
		return reason // there is one offer, so there is one reason
	}
	return Reason{Code: ReasonRequirements, Detail: "constraints of the pods do not match"}
}

// exactly puts numbers into the reason why an offer would not do.
func (r *rivalry) exactly(at purchase, reason Reason) Reason {
	reason.Count = 1
	room, ok := r.room(at.template, at.offer)
	if reason.Code != ReasonResources && reason.Code != ReasonNoResource || !ok {
		return reason
	}
	var parts []string
	for _, d := range r.withoutAttachments(r.lacking(room, r.load)) {
		name := r.table.names[d]
		have, want := quantity(name, room[d]), quantity(name, r.load[d])
		parts = append(parts, fmt.Sprintf("%s %s < %s requested", name, have.String(), want.String()))
	}
	if len(parts) > 0 {
		reason.Detail = strings.Join(parts, ", ")
	}
	return reason
}
