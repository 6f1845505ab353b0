package explain

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// termState judges the topology terms of one more pod once a plan is carried out, on nodes, on machines of the plan and
// on machines that could be launched.
type termState struct {
	in       *instance.Instance
	plan     *PlanState
	state    *cluster.State
	machines []int32          // by launch, its node; -1 for one that the problem does not offer
	at       map[string]int32 // by name of a pod that the plan places, its node
	domains  [][][]int32      // by template and offer, those of the machine; nil until they are asked for
	// seen are the violations of one class by the domains that matter to its terms. Places with the same domains share a
	// slice.
	seen    map[string][]cluster.Violation
	seenFor int
}

// hasTerms reports whether a topology term of its own or of other pods may restrict a planned class.
func hasTerms(in *instance.Instance, id int) bool {
	class := in.Planned[id]
	return class.TopologyTerms != 0 || len(in.TopologyTerms.Targets.Sets[class.Among]) > 0
}

// newTermState carries out a plan.
func newTermState(s *PlanState) *termState {
	m := cluster.NewForPlans(s.in)
	t := &termState{in: s.in, plan: s, state: m.Begin(), at: map[string]int32{}, domains: make([][][]int32, len(s.in.Templates)), seenFor: -1}
	for i := range s.Machines {
		node := int32(-1)
		if x := &s.Machines[i]; x.Template >= 0 {
			node = t.state.Join(m.Bought(offers.OfferRef{Template: x.Template, Offer: x.Offer}))
			t.place(x.Items, s.plan.Launches[i].Pods, node)
		}
		t.machines = append(t.machines, node)
	}
	assigned := map[string][]string{}
	for _, a := range s.plan.Existing {
		assigned[a.Node] = a.Pods
	}
	for i, x := range s.in.Nodes {
		t.place(s.Bins[i].Items, assigned[x.Node.Name], int32(i)) //nolint:gosec // nodes are few
	}
	t.open()
	return t
}

// place puts pods of a plan on a node.
func (t *termState) place(items []instance.Member, pods []string, node int32) {
	for _, it := range items {
		for range it.N {
			t.state.Place(int32(it.Class), node, false) //nolint:gosec // classes are few
		}
	}
	for _, pod := range pods {
		if _, known := t.plan.ClassOf[pod]; known {
			t.at[pod] = node
		}
	}
}

// open counts the domains in which a machine could be launched for pods with the spreads of pods that were left out.
func (t *termState) open() {
	shared := map[int]bool{}
	for id, class := range t.in.Planned {
		if len(t.plan.Unplaced(id)) > 0 {
			shared[class.TopologyTerms] = true
		}
	}
	for id, class := range t.in.Planned {
		spread := slices.ContainsFunc(t.in.TopologyTerms.List[class.TopologyTerms].Terms, func(x podspec.TopologyTerm) bool {
			return x.Kind == podspec.SpreadTerm && x.Weight == 0 && !x.PerHost()
		})
		if !spread || !shared[class.TopologyTerms] {
			continue
		}
		fits := map[int]bool{} // by room
		for ti := range t.in.Templates {
			row := t.in.Offered[ti].Rows[class.Group]
			for _, o := range t.in.Offered[ti].List {
				if row == nil || !row.Has(o.Offer) {
					continue
				}
				ok, known := fits[o.Room]
				if !known {
					ok = model.Fits(t.in.Rooms.Rooms[o.Room], class.Requests)
					fits[o.Room] = ok
				}
				if ok {
					t.state.Open(int32(id), t.domainsOf(ti, o.Offer)) //nolint:gosec // classes are few
				}
			}
		}
	}
}

// domainsOf are the domains of a machine bought at an offer, by axis.
func (t *termState) domainsOf(ti, o int) []int32 {
	if t.domains[ti] == nil {
		t.domains[ti] = make([][]int32, len(t.in.Offers.Offers))
	}
	d := &t.domains[ti][o]
	if *d == nil {
		*d = t.state.Model.Domains(func(key string) (string, bool) {
			return t.in.Offers.LabelOf(t.in.Templates[ti], o, requirements.NormalizeKey(key))
		})
	}
	return *d
}

// onOffer lists the topology terms that keep a class off a machine that could be launched.
func (t *termState) onOffer(id, ti, o int) []cluster.Violation {
	domains := t.domainsOf(ti, o)
	return t.violations(id, func(axis int) int32 { return domains[axis] })
}

// onNode lists the topology terms that keep a class off a node that has joined, be it a machine of the plan.
func (t *termState) onNode(id int, node int32) []cluster.Violation {
	return t.violations(id, func(axis int) int32 { return t.state.Domain(axis, node) })
}

// violations lists the topology terms that keep one more pod of a class off a place with the given domains: each once,
// in an order that does not depend on that in which pods state them.
func (t *termState) violations(id int, domain func(axis int) int32) []cluster.Violation {
	if t.seenFor != id {
		t.seen, t.seenFor = map[string][]cluster.Violation{}, id
	}
	required := t.state.Model.Classes[id].Required()
	var buffer [64]byte
	key := buffer[:0]
	for i := range required {
		key = binary.LittleEndian.AppendUint32(key, uint32(domain(required[i].Axis))) //nolint:gosec // a name of the domain
	}
	if out, known := t.seen[string(key)]; known {
		return out
	}
	out := t.state.Violations(int32(id), domain) //nolint:gosec // classes are few
	slices.SortFunc(out, func(a, b cluster.Violation) int { return compareTerms(&required[a.Term], &required[b.Term]) })
	out = slices.CompactFunc(out, func(a, b cluster.Violation) bool { return compareTerms(&required[a.Term], &required[b.Term]) == 0 })
	t.seen[string(key)] = out
	return out
}

// compareTerms orders terms so that the order in which pods state them does not show.
func compareTerms(a, b *cluster.Term) int {
	x, y := a.Spec, b.Spec
	return cmp.Or(
		number(a.Foreign)-number(b.Foreign), cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Key, y.Key), cmp.Compare(x.Target, y.Target),
		cmp.Compare(x.MaxSkew, y.MaxSkew), cmp.Compare(x.MinDomains, y.MinDomains),
		number(x.HonorAffinity)-number(y.HonorAffinity), number(x.HonorTaints)-number(y.HonorTaints), number(x.Share)-number(y.Share),
	)
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// term is the topology term of a violation by a class.
func (t *termState) term(id int, v cluster.Violation) *cluster.Term {
	return &t.state.Model.Classes[id].Required()[v.Term]
}
