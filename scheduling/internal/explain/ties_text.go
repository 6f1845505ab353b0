package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostDomains is how many domains the reasons of one tie name one by one.
const mostDomains = 8

// word turns counted bars into counted reasons.
func (t *tied) word(class *podspec.PodClass, bars, all map[Bar]int, counts map[scheduling.ReasonCount]int) {
	type cause struct {
		kind barKind
		tie  podspec.Tie
		rule int
	}
	domains := map[cause]int{}
	for b := range all {
		if b.at >= 0 {
			domains[cause{b.Kind, b.Tie, b.rule}]++
		}
	}
	for b, n := range bars {
		where := ""
		if k := domains[cause{b.Kind, b.Tie, b.rule}]; b.at >= 0 && k > mostDomains {
			where = fmt.Sprintf("each of %d values", k)
		}
		counts[scheduling.ReasonCount{Code: Code(&b.Tie), Detail: t.Detail(b, podspec.NamespaceOf(class.Pods[0]), where)}] += n
	}
}

// Code is the reason code of a tie.
func Code(t *podspec.Tie) scheduling.ReasonCode {
	switch t.Kind {
	case podspec.SpreadTie:
		if t.Share {
			return scheduling.ReasonWorkloadShare
		}
		return scheduling.ReasonTopologySpread
	case podspec.AffinityTie:
		return scheduling.ReasonPodAffinity
	default:
		return scheduling.ReasonPodAntiAffinity
	}
}

// textTie names a tie.
func textTie(t *podspec.Tie) string {
	switch t.Kind {
	case podspec.SpreadTie:
		if t.Share {
			return fmt.Sprintf("share of its workload on one machine (%d at most)", t.MaxSkew)
		}
		return fmt.Sprintf("topology spread over %s (maxSkew %d)", t.Key, t.MaxSkew)
	case podspec.AffinityTie:
		return "pod affinity over " + t.Key
	default:
		return "pod anti-affinity over " + t.Key
	}
}

// Detail words a bar for pods of a namespace. where stands for its domain where there
// are too many to name.
func (t *tied) Detail(b Bar, namespace, where string) string {
	name := textTie(&b.Tie) + ": "
	who := t.who(b.Tie.Target, namespace)
	if where == "" {
		where = t.domain(b)
	}
	switch b.Kind {
	case lacksKey:
		return name + "a machine there has no such label"
	case tooMany:
		return name + t.skew(b, where)
	case nobody:
		if t.selectsNone(b.Tie.Target) {
			return name + "it has no selector, so that no pod matches"
		}
		return name + "no pod that matches " + who + " runs or is planned"
	case elsewhere:
		return name + "no pod that matches " + who + " is " + in(where)
	case alone:
		return name + "a further machine would have no pod that matches " + who
	case conflictsThere:
		return name + where + " has a pod that matches " + who
	default:
		return fmt.Sprintf("%s: a pod %s keeps pods away that match %s", textTie(&b.Tie), in(where), who)
	}
}

// skew words why a spread allows no further pod in a domain.
func (t *tied) skew(b Bar, where string) string {
	if b.rule < 0 {
		return where + " has as many as it may"
	}
	r, m := &t.book.Rules[b.rule], t.minimum(b.rule)
	has := fmt.Sprintf("%s has %d", where, r.Domains[b.at].Count)
	if strings.HasPrefix(where, "each ") {
		has = where + " has too many"
	}
	if m.domain < 0 {
		return fmt.Sprintf("%s, and as long as there are %d of %d domains (minDomains) the least counts as 0", has, m.domains, r.Tie.MinDomains)
	}
	return fmt.Sprintf("%s, the least is %d (%s)", has, m.count, strings.Join(t.emptiest(b.rule), ", "))
}

// emptiest lists the domains that have the least, as far as they can be named.
func (t *tied) emptiest(rule int) []string {
	const most = 3
	var out []string
	r, m := &t.book.Rules[rule], t.minimum(rule)
	for i, d := range r.Domains {
		if !d.Eligible || d.Count != m.count {
			continue
		}
		if len(out) == most {
			return append(out, "…")
		}
		out = append(out, strconv.Quote(t.book.Locations.Axes[r.Axis].Values[i]))
	}
	return out
}

// domain names the domain of a bar.
func (t *tied) domain(b Bar) string {
	if b.rule < 0 || b.at < 0 {
		return "the node"
	}
	return strconv.Quote(t.book.Locations.Axes[t.book.Rules[b.rule].Axis].Values[b.at])
}

// in puts a preposition before a domain.
func in(where string) string {
	if where == "the node" {
		return "on the node"
	}
	return "in " + where
}

// who writes which pods a target is about, for pods of a namespace.
func (t *tied) who(target int, namespace string) string {
	var parts []string
	selectors := t.book.Locations.In.TopologyTerms.Targets.List[target].Selectors
	for i := range selectors {
		if text := text(&selectors[i], namespace); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " and ")
}

// text writes a selector, for pods of a namespace.
func text(s *podspec.PodSelector, own string) string {
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
func (t *tied) selectsNone(target int) bool {
	return slices.ContainsFunc(t.book.Locations.In.TopologyTerms.Targets.List[target].Selectors, func(s podspec.PodSelector) bool { return s.Labels == labels.Nothing() })
}

// selfMatch reports whether pods of a class are among those that a tie is about.
func (t *tied) selfMatch(id, target int) bool {
	return t.book.Locations.In.TopologyTerms.Targets.Has(t.in.Planned[id].Among, target)
}

// waiting returns the first pod that a tie is about and that was left out itself.
func (t *tied) waiting(target int, not *podspec.PodClass) *corev1.Pod {
	for id, class := range t.in.Planned {
		if class == not || !t.selfMatch(id, target) {
			continue
		}
		if pods := t.state.Unplaced(id); len(pods) > 0 {
			return pods[0]
		}
	}
	for _, class := range t.in.Classes.Classes {
		if class.Refused != "" && t.book.Locations.In.TopologyTerms.Targets.Has(class.Among, target) {
			return class.Pods[0]
		}
	}
	return nil
}
