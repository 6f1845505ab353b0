package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// mostDomains is how many domains the reasons of one tie name one by one.
const mostDomains = 8

// word turns counted bars into counted reasons.
func (t *tied) word(class *podClass, bars map[bar]int, counts map[Reason]int) {
	type cause struct {
		kind barKind
		tie  tie
		rule int
	}
	domains := map[cause]int{}
	for b := range bars {
		if b.at >= 0 {
			domains[cause{b.kind, b.tie, b.rule}]++
		}
	}
	for b, n := range bars {
		where := ""
		if k := domains[cause{b.kind, b.tie, b.rule}]; b.at >= 0 && k > mostDomains {
			where = fmt.Sprintf("each of %d values", k)
		}
		counts[Reason{Code: b.tie.code(), Detail: t.detail(b, namespaceOf(class.pods[0]), where)}] += n
	}
}

// code is the reason code of a tie.
func (t *tie) code() ReasonCode {
	switch t.kind {
	case spreadTie:
		if t.share {
			return ReasonWorkloadShare
		}
		return ReasonTopologySpread
	case affinityTie:
		return ReasonPodAffinity
	default:
		return ReasonPodAntiAffinity
	}
}

// text names a tie.
func (t *tie) text() string {
	switch t.kind {
	case spreadTie:
		if t.share {
			return fmt.Sprintf("share of its workload on one machine (%d at most)", t.maxSkew)
		}
		return fmt.Sprintf("topology spread over %s (maxSkew %d)", t.key, t.maxSkew)
	case affinityTie:
		return "pod affinity over " + t.key
	default:
		return "pod anti-affinity over " + t.key
	}
}

// detail words a bar for pods of a namespace. where stands for its domain where there
// are too many to name.
func (t *tied) detail(b bar, namespace, where string) string {
	name := b.tie.text() + ": "
	who := t.who(b.tie.target, namespace)
	if where == "" {
		where = t.domain(b)
	}
	switch b.kind {
	case lacksKey:
		return name + "a machine there has no such label"
	case tooMany:
		return name + t.skew(b, where)
	case nobody:
		if t.selectsNone(b.tie.target) {
			return name + "it has no selector, so that no pod matches"
		}
		return name + "no pod that matches " + who + " runs or is planned"
	case elsewhere:
		return name + "no pod that matches " + who + " is " + in(where)
	case alone:
		return name + "a further machine would have no pod that matches " + who
	case inCompany:
		return name + where + " has a pod that matches " + who
	default:
		return fmt.Sprintf("%s: a pod %s keeps pods away that match %s", b.tie.text(), in(where), who)
	}
}

// skew words why a spread allows no further pod in a domain.
func (t *tied) skew(b bar, where string) string {
	if b.rule < 0 {
		return where + " has as many as it may"
	}
	r, m := &t.rules[b.rule], t.minimum(b.rule)
	has := fmt.Sprintf("%s has %d", where, r.domains[b.at].Count)
	if strings.HasPrefix(where, "each ") {
		has = where + " has too many"
	}
	if m.domain < 0 {
		return fmt.Sprintf("%s, and as long as there are %d of %d domains (minDomains) the least counts as 0", has, m.domains, r.minDomains)
	}
	return fmt.Sprintf("%s, the least is %d (%s)", has, m.count, strings.Join(t.emptiest(b.rule), ", "))
}

// emptiest lists the domains that have the least, as far as they can be named.
func (t *tied) emptiest(rule int) []string {
	const most = 3
	var out []string
	r, m := &t.rules[rule], t.minimum(rule)
	for i, d := range r.domains {
		if !d.Eligible || d.Count != m.count {
			continue
		}
		if len(out) == most {
			return append(out, "…")
		}
		out = append(out, t.land.axes[r.axis].values[i])
	}
	return out
}

// domain names the domain of a bar.
func (t *tied) domain(b bar) string {
	if b.rule < 0 || b.at < 0 {
		return "the node"
	}
	return t.land.axes[t.rules[b.rule].axis].values[b.at]
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
	selectors := t.land.bonds.targets.list[target].selectors
	for i := range selectors {
		if text := selectors[i].text(namespace); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " and ")
}

// text writes a selector, for pods of a namespace.
func (s *podSelector) text(own string) string {
	text := s.labels.String()
	switch {
	case s.labels == labels.Nothing():
		text = "no selector"
	case text == "":
		text = "anything"
	}
	switch {
	case s.every:
		return text + " in any namespace"
	case len(s.namespaces) == 1 && s.namespaces[own]:
		return text
	case len(s.namespaces) == 0:
		return text + " in no namespace"
	default:
		return text + " in namespace " + strings.Join(slices.Sorted(maps.Keys(s.namespaces)), " or ")
	}
}

// selectsNone reports whether a target has no selector at all.
func (t *tied) selectsNone(target int) bool {
	return slices.ContainsFunc(t.land.bonds.targets.list[target].selectors, func(s podSelector) bool { return s.labels == labels.Nothing() })
}

// selfMatch reports whether pods of a class are among those that a tie is about.
func (t *tied) selfMatch(id, target int) bool {
	return t.land.bonds.targets.has(t.scene.planned[id].among, target)
}

// waiting returns the first pod that a tie is about and that was left out itself.
func (t *tied) waiting(target int, not *podClass) *corev1.Pod {
	for id, class := range t.scene.planned {
		if class == not || !t.selfMatch(id, target) {
			continue
		}
		if pods := t.scene.unplaced(id); len(pods) > 0 {
			return pods[0]
		}
	}
	for _, class := range t.scene.classes.classes {
		if class.refused != "" && t.land.bonds.targets.has(class.among, target) {
			return class.pods[0]
		}
	}
	return nil
}
