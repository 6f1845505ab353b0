package prove

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// domainKeys are the topology keys, without the host name, of required spread constraints and anti-affinity of placed
// pods; the key of the most pods first.
func domainKeys(in *instance.Instance, placed []int64) []string {
	pods := map[string]int64{}
	for i, n := range placed {
		if n <= 0 {
			continue
		}
		known := map[string]bool{}
		for _, t := range in.TopologyTerms.List[in.Planned[i].TopologyTerms].Terms {
			if t.Weight == 0 && t.Kind != podspec.AffinityTerm && !t.PerHost() && t.Key == requirements.NormalizeKey(t.Key) && !known[t.Key] {
				known[t.Key] = true
				pods[t.Key] += n
			}
		}
	}
	return slices.SortedFunc(maps.Keys(pods), func(a, b string) int { return cmp.Or(cmp.Compare(pods[b], pods[a]), cmp.Compare(a, b)) })
}

// newBareBook is a domain book without domains and rules.
func newBareBook(pr *prover, key string) *domainBook {
	return &domainBook{in: pr.in, prover: pr, key: key, locations: pr.in.Locations(), number: map[string]int{}, open: map[string][]bool{}}
}

// readDomains fills domains. It reports whether the domain of every offer is known, and there are between 2 and
// [mostDomains].
func (b *domainBook) readDomains() bool {
	sold := b.in.Offers.Column(b.key)
	domains, used := slices.Clone(b.locations.Nodes.Column(b.key).Values), make([]bool, len(sold.Values))
	for _, v := range b.in.Templates {
		if !b.settled(v) {
			return false
		}
		rest := false // whether an offer's domain is the template's label
		v.Within.Each(func(o int) {
			if n := sold.Numbers[o]; b.in.Offers.Offers[o].Launchable && n >= 0 {
				used[n] = true
			} else if b.in.Offers.Offers[o].Launchable {
				rest = true
			}
		})
		domain, ok := v.Label(b.key)
		if rest && ok {
			domains = append(domains, domain)
		}
		b.unlabelled = b.unlabelled || rest && !ok
	}
	for n, ok := range used {
		if ok {
			domains = append(domains, sold.Values[n])
		}
	}
	b.domains = podspec.Compacted(domains)
	for z, name := range b.domains {
		b.number[name] = z
	}
	return !slices.Contains(b.domains, "") && len(b.domains) >= 2 && len(b.domains) <= mostDomains
}

// labelled reports whether every node has a label.
func (b *domainBook) labelled(key string) bool {
	for i := range b.locations.Places {
		if b.locations.Places[i].Labels[key] == "" {
			return false
		}
	}
	return !slices.ContainsFunc(b.in.Nodes, func(n *instance.ExistingNode) bool { return n.Labels[key] == "" })
}

// settled reports whether the domains of a template's nodes are known, from offers or from the NodePool.
func (b *domainBook) settled(v *offers.Template) bool {
	switch _, labelled := v.Label(b.key); {
	case b.in.Offers.Defines(b.key, v.Catalog):
		return true
	case v.Open[b.key]:
		may := v.Set.Get(b.key)
		return !may.Complement() && !may.AllowsAbsent()
	default:
		return labelled || !requirements.WellKnown().Has(b.key) // which a cloud might set
	}
}

// domainOf is the domain of a template's offer: -1 where it may not be launched, and the number of domains where it has
// no label.
func (b *domainBook) domainOf(v *offers.Template, offer int) int {
	sold := b.in.Offers.Column(b.key)
	domain, ok := v.Label(b.key)
	if n := sold.Numbers[offer]; n >= 0 {
		domain = sold.Values[n]
	} else if !ok {
		return len(b.domains)
	}
	if z, known := b.number[domain]; known {
		return z
	}
	return -1
}

// whereabouts is the domain, from 1, of each pod in a plan, by namespace/name; empty for a nil plan.
func (b *domainBook) whereabouts(plan *scheduling.Plan) map[string]int {
	domainOf, launches := map[string]int{}, instance.NewLaunches(b.in)
	if plan == nil {
		return domainOf
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		if at, ok := launches.OfferOf(l); ok {
			for _, name := range l.Pods {
				domainOf[name] = b.domainOf(b.in.Templates[at.Template], at.Offer) + 1
			}
		}
	}
	for _, a := range plan.Existing {
		if at, ok := b.locations.NodeAt[a.Node]; ok {
			for _, name := range a.Pods {
				domainOf[name] = b.domainOfNode(b.locations.Places[at].Labels) + 1
			}
		}
	}
	return domainOf
}

// domainOfNode is the domain of a node with some labels; the number of domains where it has none.
func (b *domainBook) domainOfNode(labels map[string]string) int {
	if domain, ok := labels[b.key]; ok {
		return b.number[domain]
	}
	return len(b.domains)
}
