package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostDomains is how many domains the reasons of one term name one by one.
const mostDomains = 8

// word adds counted violations by a class to counted reasons. all are the violations of all places: a term that is
// violated in more than mostDomains domains of them is worded once for all.
func (t *termState) word(id int, counted, all map[cluster.Violation]int, counts map[scheduling.ReasonCount]int) {
	type cause struct {
		refusal cluster.Refusal
		term    int
	}
	domains := map[cause]int{}
	for v := range all {
		if v.Domain >= 0 {
			domains[cause{v.Refusal, v.Term}]++
		}
	}
	for v, n := range counted {
		where := t.where(id, v)
		if k := domains[cause{v.Refusal, v.Term}]; v.Domain >= 0 && k > mostDomains {
			where = fmt.Sprintf("each of %d values", k)
		}
		counts[t.reason(id, v, where)] += n
	}
}

// termCode is the reason code of a topology term.
func termCode(t *podspec.TopologyTerm) (code scheduling.ReasonCode) {
	//exhaustive:enforce
	switch t.Kind {
	case podspec.SpreadTerm:
		if code = scheduling.ReasonTopologySpread; t.Share {
			code = scheduling.ReasonWorkloadShare
		}
	case podspec.AffinityTerm:
		code = scheduling.ReasonPodAffinity
	case podspec.AntiAffinityTerm:
		code = scheduling.ReasonPodAntiAffinity
	}
	return code
}

// termText names a topology term.
func termText(t *podspec.TopologyTerm) (text string) {
	//exhaustive:enforce
	switch t.Kind {
	case podspec.SpreadTerm:
		if text = fmt.Sprintf("topology spread over %s (maxSkew %d)", t.Key, t.MaxSkew); t.Share {
			text = fmt.Sprintf("share of its workload on one node (%d at most)", t.MaxSkew)
		}
	case podspec.AffinityTerm:
		text = "pod affinity over " + t.Key
	case podspec.AntiAffinityTerm:
		text = "pod anti-affinity over " + t.Key
	}
	return text
}

// reason words a violation by a class in a domain, see [termState.where].
func (t *termState) reason(id int, v cluster.Violation, where string) scheduling.ReasonCount {
	term := t.term(id, v)
	selected := selectedPods(t.in.TopologyTerms.Targets, term.Spec.Target, podspec.NamespaceOf(t.in.Planned[id].Pods[0]))
	detail := ""
	//exhaustive:enforce
	switch v.Refusal {
	case cluster.Allowed:
	case cluster.LacksLabel:
		detail = ": a node there has no such label"
	case cluster.TooSkewed:
		detail = ": " + t.skew(term, v.Domain, where)
	case cluster.NoneToFollow:
		if detail = ": no pod that matches " + selected + " runs or is planned"; selectsNone(t.in.TopologyTerms.Targets, term.Spec.Target) {
			detail = ": it has no selector, so that no pod matches"
		}
	case cluster.NotFollowed:
		if detail = ": no pod that matches " + selected + " is " + inDomain(where); v.Domain == cluster.OwnDomain {
			detail = ": a further node would have no pod that matches " + selected
		}
	case cluster.Conflicts:
		detail = ": " + where + " has a pod that matches " + selected
	case cluster.KeptAwayByPod:
		detail = ": a pod " + inDomain(where) + " keeps pods away that match " + selected
	}
	return scheduling.ReasonCount{Code: termCode(term.Spec), Detail: termText(term.Spec) + detail}
}

// skew words why a spread allows no further pod in a domain.
func (t *termState) skew(term *cluster.Term, domain int32, where string) string {
	if domain < 0 {
		return where + " has as many as it may"
	}
	counts := t.state.Counts(term)
	has := where + " has too many"
	if i := slices.IndexFunc(counts, func(x cluster.DomainCount) bool { return x.Domain == domain }); !strings.HasPrefix(where, "each ") {
		has = fmt.Sprintf("%s has %d", where, counts[i].Pods)
	}
	domains, least := emptiest(counts)
	if int64(domains) < term.Spec.MinDomains {
		return fmt.Sprintf("%s, and as long as there are %d of %d domains (minDomains) the least counts as 0", has, domains, term.Spec.MinDomains)
	}
	const most = 3
	var names []string
	for _, x := range least {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, strconv.Quote(x.Value))
	}
	return fmt.Sprintf("%s, the least is %d (%s)", has, least[0].Pods, strings.Join(names, ", "))
}

// emptiest are the domains of a spread that have the fewest pods, and the number of all that count.
func emptiest(counts []cluster.DomainCount) (domains int, least []cluster.DomainCount) {
	for _, x := range counts {
		if !x.Eligible {
			continue
		}
		if domains++; len(least) > 0 && x.Pods < least[0].Pods {
			least = nil
		}
		if len(least) == 0 || x.Pods == least[0].Pods {
			least = append(least, x)
		}
	}
	return domains, least
}

// where names the domain of a violation.
func (t *termState) where(id int, v cluster.Violation) string {
	if v.Domain < 0 {
		return "the node"
	}
	return strconv.Quote(t.state.Model.Value(t.term(id, v).Axis, v.Domain))
}

// inDomain puts a preposition before a domain.
func inDomain(where string) string {
	if where == "the node" {
		return "on the node"
	}
	return "in " + where
}

// selectedPods writes which pods a target selects, for pods of a namespace.
func selectedPods(targets *podspec.Targets, target int, namespace string) string {
	var parts []string
	selectors := targets.List[target].Selectors
	for i := range selectors {
		if text := selectorText(&selectors[i], namespace); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " and ")
}

// selectorText writes a selector, for pods of a namespace.
func selectorText(s *podspec.PodSelector, own string) string {
	text := s.Labels.String()
	switch {
	case s.Labels == labels.Nothing():
		text = "no selector"
	case text == "":
		text = "anything"
	}
	switch {
	case s.Every:
		return text + " in any namespace"
	case len(s.Namespaces) == 1 && s.Namespaces[own]:
		return text
	case len(s.Namespaces) == 0:
		return text + " in no namespace"
	default:
		return text + " in namespace " + strings.Join(slices.Sorted(maps.Keys(s.Namespaces)), " or ")
	}
}

// selectsNone reports whether a target has no selector at all.
func selectsNone(targets *podspec.Targets, target int) bool {
	return slices.ContainsFunc(targets.List[target].Selectors, func(s podspec.PodSelector) bool { return s.Labels == labels.Nothing() })
}

// states lists the topology terms of a class that have to hold, with the pods that each counts by domain.
func (t *termState) states(id int) []explanation.TopologyTerm {
	var own []*cluster.Term
	required := t.state.Model.Classes[id].Required()
	for i := range required {
		if !required[i].Foreign {
			own = append(own, &required[i])
		}
	}
	slices.SortFunc(own, compareTerms)
	own = slices.CompactFunc(own, func(a, b *cluster.Term) bool { return compareTerms(a, b) == 0 })
	var out []explanation.TopologyTerm
	for _, term := range own {
		selected := selectedPods(t.in.TopologyTerms.Targets, term.Spec.Target, podspec.NamespaceOf(t.in.Planned[id].Pods[0]))
		s := explanation.TopologyTerm{Code: termCode(term.Spec), Key: term.Spec.Key, Matching: selected, Text: termText(term.Spec) + " of pods that match " + selected}
		if !term.Spec.PerHost() {
			for _, x := range t.state.Counts(term) {
				s.Domains = append(s.Domains, explanation.DomainCount{Value: x.Value, Pods: x.Pods})
			}
		}
		out = append(out, s)
	}
	return out
}
