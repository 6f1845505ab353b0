package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// How many types an explanation of a launch lists.
const (
	mostRunnersUp = 5
	mostCheaper   = 5
	mostOfAReason = 2 // among the cheaper types
)

// Load is the sum of the requests of pods, by resource.
func (s *PlanState) Load(items []instance.Member) []int64 {
	sum := make([]int64, len(s.in.Table.Names))
	for _, it := range items {
		for d, q := range s.in.Planned[it.Class].Requests {
			sum[d] += q * it.N
		}
	}
	return sum
}

// Comparison asks of every offering whether it would hold the pods of a launch.
type Comparison struct {
	in        *instance.Instance
	explainer *Explainer
	launch    *PlannedNode
	ledger    *instance.Ledger // as if the launch were not made
	groups    []int
	load      []int64
	keys      []podspec.TopologyTerm // topology terms, one for each key, for which the domain of the machine matters
	ranks     []int32
}

// NewComparison compares the offering of a launch with all others on sale.
func NewComparison(e *Explainer, m *PlannedNode) *Comparison {
	r := &Comparison{in: e.In, explainer: e, launch: m, ledger: e.State.ledger.Clone(), load: e.State.Load(m.Items), ranks: e.In.WeightRank()}
	r.ledger.Spend(offers.OfferRef{Template: m.Template, Offer: m.Offer}, -1)
	among := map[int]bool{}
	for _, it := range m.Items {
		class := e.In.Planned[it.Class]
		if !slices.Contains(r.groups, class.Group) {
			r.groups = append(r.groups, class.Group)
		}
		for _, target := range e.In.TopologyTerms.Targets.Sets[class.Among] {
			among[int(target)] = true
		}
	}
	here := map[int]bool{}
	for _, it := range m.Items {
		here[e.In.Planned[it.Class].TopologyTerms] = true
	}
	for i, b := range e.In.TopologyTerms.List {
		for _, t := range b.Terms {
			if t.Weight == 0 && !t.PerHost() && (here[i] || among[t.Target]) && !slices.ContainsFunc(r.keys, func(k podspec.TopologyTerm) bool { return k.Key == t.Key }) {
				r.keys = append(r.keys, t)
			}
		}
	}
	return r
}

// Run fills in the cheapest other offerings that would hold the pods, and why cheaper ones would not.
func (r *Comparison) Run(out *explanation.LaunchExplanation) {
	own := r.in.Offers.Offers[r.launch.Offer].InstanceType.Name
	price := r.in.Offers.Offers[r.launch.Offer].Offering.Price
	best, rejected := map[string]int{}, map[string]offers.OfferRef{}
	counts := map[scheduling.ReasonCount]int{}
	for ti, v := range r.in.Templates {
		v.Within.Each(func(o int) {
			x := &r.in.Offers.Offers[o]
			name := x.InstanceType.Name
			reason := r.wrong(ti, o)
			if reason.Code == "" {
				if have, ok := best[name]; name != own && (!ok || x.Cost < r.in.Offers.Offers[have].Cost) {
					best[name] = o
				}
				return
			}
			counts[reason]++
			if have, ok := rejected[name]; x.Offering.Price < price && (reason.Code == scheduling.ReasonResources || r.roomy(ti, o)) && (!ok || x.Offering.Price < r.in.Offers.Offers[have.Offer].Offering.Price) {
				rejected[name] = offers.OfferRef{Template: ti, Offer: o}
			}
		})
	}
	out.RuledOut = sortedReasons(counts, nil)
	out.Others = len(best)
	names := slices.Sorted(maps.Keys(best))
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := &r.in.Offers.Offers[best[a]], &r.in.Offers.Offers[best[b]]
		return cmp.Or(cmp.Compare(x.Cost, y.Cost), cmp.Compare(x.Offering.Price, y.Offering.Price))
	})
	for _, name := range names[:min(len(names), mostRunnersUp)] {
		out.RunnersUp = append(out.RunnersUp, r.in.Offers.Offers[best[name]].Option())
	}
	cheaper := slices.DeleteFunc(slices.Sorted(maps.Keys(rejected)), func(name string) bool {
		_, holds := best[name]
		return holds || name == own
	})
	slices.SortStableFunc(cheaper, func(a, b string) int {
		return cmp.Compare(r.in.Offers.Offers[rejected[b].Offer].Offering.Price, r.in.Offers.Offers[rejected[a].Offer].Offering.Price)
	})
	told := map[scheduling.ReasonCount]int{}
	for _, name := range cheaper {
		at := rejected[name]
		reason := r.wrong(at.Template, at.Offer)
		if told[reason]++; len(out.Cheaper) < mostCheaper && told[reason] <= mostOfAReason {
			out.Cheaper = append(out.Cheaper, explanation.RejectedOption{LaunchOption: r.in.Offers.Offers[at.Offer].Option(), Reason: r.exactly(at, reason)})
		}
	}
}

// roomy reports whether a machine of an offer has room for the pods, whatever else rules it out.
func (r *Comparison) roomy(ti, o int) bool {
	room, ok := r.explainer.State.room(ti, o)
	return ok && len(shortOf(room, r.load)) == 0
}

// wrong is the reason why an offer cannot replace that of the launch. Its code is empty if the offer can.
func (r *Comparison) wrong(ti, o int) scheduling.ReasonCount {
	v := r.in.Templates[ti]
	for _, g := range r.groups {
		if row := r.in.Offered[ti].Rows[g]; row == nil || !row.Has(o) {
			return r.unfit(ti, o, g)
		}
	}
	x := &r.in.Offers.Offers[o]
	if x.Excluded.Code != "" {
		return offers.Reason(r.in.Facts.Solver, x.Excluded)
	}
	if !x.Launchable {
		return r.explainer.State.notOnSale(v.Pool.Name, x)
	}
	if r.ranks[v.Number] > r.ranks[r.in.Templates[r.launch.Template].Number] {
		return scheduling.ReasonCount{Code: scheduling.ReasonWeight, Detail: "NodePool " + v.Pool.Name + " has a lower weight"}
	}
	room, ok := r.explainer.State.room(ti, o)
	if !ok {
		return scheduling.ReasonCount{Code: scheduling.ReasonResources, Detail: "daemons alone do not fit"}
	}
	if lacking := shortOf(room, r.load); len(lacking) > 0 {
		return resourceReason(r.in, lacking)
	}
	p := offers.OfferRef{Template: ti, Offer: o}
	if id := r.ledger.UsedUp(p); id != "" {
		return scheduling.ReasonCount{Code: scheduling.ReasonReservation, Detail: "reservation " + id + " is used up"}
	}
	if !r.ledger.Affords(p) {
		return scheduling.ReasonCount{Code: scheduling.ReasonLimits, Detail: "the limits of NodePool " + v.Pool.Name + " leave no room for it"}
	}
	for i := range r.keys {
		key := r.keys[i].Key
		here, _ := r.in.Offers.LabelOf(r.in.Templates[r.launch.Template], r.launch.Offer, key)
		if there, _ := r.in.Offers.LabelOf(v, o, key); here != there {
			return scheduling.ReasonCount{Code: termCode(&r.keys[i]), Detail: fmt.Sprintf("%s counts on its being in %s", termText(&r.keys[i]), here)}
		}
	}
	return scheduling.ReasonCount{}
}

// unfit is the reason why an offer does not suit the pods of a group.
func (r *Comparison) unfit(ti, o, g int) scheduling.ReasonCount {
	reason := scheduling.ReasonCount{Code: scheduling.ReasonRequirements, Detail: "constraints of the pods do not match"}
	s, p := &subject{in: r.in, state: r.explainer.State, explainer: r.explainer, needs: r.explainer.needsOf(g)}, place{ti, o}
	s.unsuited(p, func(x obstacle) bool {
		reason = reasonOf(s, p, x)
		return false
	})
	return reason
}

// exactly puts numbers into the reason why an offer would not do.
func (r *Comparison) exactly(at offers.OfferRef, reason scheduling.ReasonCount) scheduling.ReasonCount {
	reason.Count = 1
	room, ok := r.explainer.State.room(at.Template, at.Offer)
	if reason.Code != scheduling.ReasonResources && reason.Code != scheduling.ReasonNoResource || !ok {
		return reason
	}
	var parts []string
	for _, d := range withoutAttachments(r.in.Table, shortOf(room, r.load)) {
		name := r.in.Table.Names[d]
		have, want := podspec.Quantity(name, room[d]), podspec.Quantity(name, r.load[d])
		parts = append(parts, fmt.Sprintf("%s %s < %s requested", name, have.String(), want.String()))
	}
	if len(parts) > 0 {
		reason.Detail = strings.Join(parts, ", ")
	}
	return reason
}

// MostNear is how many names an error suggests.
const MostNear = 5

// Near returns the names that look most like a mistyped name, the most similar first: names that contain it, and names
// that differ in one or two letters.
func Near(name string, all []string) []string {
	want := strings.ToLower(name)
	slips := 1 + len(want)/5
	return spelling.Closest(all, MostNear, func(full string) (int, bool) {
		have := strings.ToLower(full)
		_, own, scoped := strings.Cut(have, "/")
		d := spelling.Distance(want, have)
		if scoped {
			d = min(d, spelling.Distance(want, own))
		}
		if len(want) >= 3 && strings.Contains(have, want) {
			d = min(d, 1)
		}
		return d, d <= slips
	})
}

// SortRooms puts the fullest resource first.
func SortRooms(rooms []explanation.Room) {
	slices.SortStableFunc(rooms, func(a, b explanation.Room) int {
		return cmp.Or(cmp.Compare(b.Share(), a.Share()), strings.Compare(a.Resource, b.Resource))
	})
}
