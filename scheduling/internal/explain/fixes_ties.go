package explain

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// obstructing is a topology term that keeps pods off places, with its rule.
type obstructing struct {
	tie  podspec.Tie
	rule int
}

// tieBars are the ties that alone keep pods from places.
type tieBars struct {
	single map[obstructing][]Bar // by the one that does
	order  []obstructing
	fewest []Bar         // of a place that several ties keep the pods from
	seen   map[*Bar]bool // bars of one site are one slice
}

// note adds a place that only topology terms keep the pods off, at least one.
func (t *tieBars) note(bars []Bar) {
	if t.seen[&bars[0]] {
		return
	}
	if t.seen == nil {
		t.single, t.seen = map[obstructing][]Bar{}, map[*Bar]bool{}
	}
	t.seen[&bars[0]] = true
	first := obstructing{bars[0].Tie, bars[0].rule}
	if slices.ContainsFunc(bars, func(b Bar) bool { return (obstructing{b.Tie, b.rule}) != first }) {
		if t.fewest == nil || len(bars) < len(t.fewest) {
			t.fewest = bars
		}
		return
	}
	if t.single[first] == nil {
		t.order = append(t.order, first)
	}
	for _, b := range bars {
		if !slices.Contains(t.single[first], b) {
			t.single[first] = append(t.single[first], b)
		}
	}
}

// tieFixes says how the ties could give way that alone keep a class from places.
func (e *Explainer) tieFixes(class *podspec.PodClass, id int, t *tieBars, out *ChangeList) {
	for _, o := range t.order {
		relaxed := e.Tied.relax(class, id, t.single[o])
		out.Add(relaxed[0])
		e.blockers(class, id, t.single[o], out)
		for _, c := range relaxed[1:] {
			out.Add(c)
		}
	}
	if len(t.order) == 0 && t.fewest != nil {
		var changes ChangeList
		for _, b := range t.fewest {
			changes.Add(e.Tied.lift(class, id, b))
		}
		out.Add(offers.Joined(changes, ", and "))
	}
}

// relax says how one tie could give way that keeps a class from places, the smallest
// change first. There is at least one.
func (t *tied) relax(class *podspec.PodClass, id int, bars []Bar) []scheduling.Change {
	x := bars[0].Tie
	if bars[0].Kind == turnedAway {
		return []scheduling.Change{t.relaxOthers(class, bars)}
	}
	if !slices.ContainsFunc(bars, func(b Bar) bool { return b.Kind != lacksKey }) {
		c := scheduling.Change{Kind: scheduling.ChangePodAffinity, Key: x.Key}
		if x.Kind == podspec.SpreadTie {
			c.Kind = scheduling.ChangeScheduleAnyway
		}
		c.Text = fmt.Sprintf("prefer the %s instead of requiring it, or give machines the label %s", textTie(&x), x.Key)
		return []scheduling.Change{c}
	}
	switch x.Kind {
	case podspec.SpreadTie:
		if x.Share {
			return []scheduling.Change{{Kind: scheduling.ChangeWorkloadShare, Object: "Policy", Text: "let one machine hold a larger share of a workload"}}
		}
		return t.relaxSpread(id, bars)
	case podspec.AffinityTie:
		return t.relaxAffinity(class, bars)
	default:
		return []scheduling.Change{t.relaxAnti(class, bars)}
	}
}

// lift says how the pod itself could do without one tie.
func (t *tied) lift(class *podspec.PodClass, id int, b Bar) scheduling.Change {
	all := t.relax(class, id, []Bar{b})
	if b.Tie.Kind == podspec.AffinityTie {
		return all[len(all)-1]
	}
	return all[0]
}

// relaxSpread says which skew would do.
func (t *tied) relaxSpread(id int, bars []Bar) []scheduling.Change {
	x := bars[0].Tie
	var out []scheduling.Change
	own := t.selfMatch(id, x.Target)
	least := int64(-1)
	for _, b := range bars {
		if b.Kind != tooMany {
			continue
		}
		over := int64(1)
		if b.rule >= 0 {
			over = t.over(duty{tie: x, rule: b.rule}, b.at, own)
		}
		if least < 0 || over < least {
			least = over
		}
	}
	if rule := bars[0].rule; rule >= 0 {
		m := t.minimum(rule)
		if short := t.book.Rules[rule].Tie.MinDomains; m.domains < short && t.evenWithout(rule, bars, own) {
			out = append(out, scheduling.Change{
				Kind: scheduling.ChangeMinDomains, Key: x.Key, From: strconv.FormatInt(short, 10), To: strconv.FormatInt(m.domains, 10),
				Text: fmt.Sprintf("minDomains ≤ %d over %s would do (it is %d)", m.domains, x.Key, short),
			})
		}
	}
	skew := x.MaxSkew + least
	out = append(out, scheduling.Change{
		Kind: scheduling.ChangeMaxSkew, Key: x.Key, From: strconv.FormatInt(x.MaxSkew, 10), To: strconv.FormatInt(skew, 10),
		Text: fmt.Sprintf("maxSkew ≥ %d over %s would do for one more (it is %d)", skew, x.Key, x.MaxSkew),
	})
	for _, field := range []struct {
		name, not string
		honors    bool
	}{
		{"nodeAffinityPolicy", "that its node selector or affinity rules out", x.HonorAffinity},
		{"nodeTaintsPolicy", "with taints that it does not tolerate", x.HonorTaints},
	} {
		if !field.honors {
			out = append(out, scheduling.Change{
				Kind: scheduling.ChangeNodeInclusion, Key: x.Key, From: "Ignore", To: field.name,
				Text: fmt.Sprintf("%s: Honor over %s would do: nodes %s do not count for the pod then", field.name, x.Key, field.not),
			})
		}
	}
	return append(out, scheduling.Change{
		Kind: scheduling.ChangeScheduleAnyway, Key: x.Key,
		Text: fmt.Sprintf("whenUnsatisfiable: ScheduleAnyway over %s would do", x.Key),
	})
}

// evenWithout reports whether a spread would let one more pod in if it asked for no
// more domains than there are.
func (t *tied) evenWithout(rule int, bars []Bar, own bool) bool {
	r := &t.book.Rules[rule]
	least := int64(-1)
	for _, d := range r.Domains {
		if d.Eligible && (least < 0 || d.Count < least) {
			least = d.Count
		}
	}
	return slices.ContainsFunc(bars, func(b Bar) bool {
		if b.Kind != tooMany || b.at < 0 {
			return false
		}
		n := r.Domains[b.at].Count - least
		if own {
			n++
		}
		return n <= r.Tie.MaxSkew
	})
}

// relaxAffinity says which pod is missing.
func (t *tied) relaxAffinity(class *podspec.PodClass, bars []Bar) []scheduling.Change {
	x := bars[0].Tie
	who := t.who(x.Target, podspec.NamespaceOf(class.Pods[0]))
	where := "where " + x.Key + " is the same"
	if x.PerHost() {
		where = "on the same node"
	}
	wish := scheduling.Change{Kind: scheduling.ChangePodAffinity, Key: x.Key, Text: fmt.Sprintf("prefer the pod affinity over %s instead of requiring it", x.Key)}
	switch bars[0].Kind {
	case nobody:
		if t.selectsNone(x.Target) {
			wish.Text = fmt.Sprintf("give the pod affinity over %s a selector: without one it matches no pod", x.Key)
			return []scheduling.Change{wish}
		}
		c := scheduling.Change{Kind: scheduling.ChangePods, Key: x.Key, Text: fmt.Sprintf("needs a pod that matches %s %s; none runs or is planned", who, where)}
		if other := t.waiting(x.Target, class); other != nil {
			c.Object = "Pod/" + podspec.PodName(other)
			c.Text = fmt.Sprintf("place pod %s first, which has no place either: needs a pod that matches %s %s", podspec.PodName(other), who, where)
		}
		return []scheduling.Change{c, wish}
	default:
		return []scheduling.Change{wish}
	}
}

// relaxAnti proposes to prefer an anti-affinity of a class instead of requiring it.
func (t *tied) relaxAnti(class *podspec.PodClass, bars []Bar) scheduling.Change {
	x := bars[0].Tie
	who := t.who(x.Target, podspec.NamespaceOf(class.Pods[0]))
	c := scheduling.Change{Kind: scheduling.ChangePodAntiAffinity, Key: x.Key}
	if x.PerHost() {
		c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: every node with room has a pod that matches %s", x.Key, who)
		return c
	}
	var domains []string
	for _, b := range bars {
		if name := t.domain(b); !slices.Contains(domains, name) {
			domains = append(domains, name)
		}
	}
	slices.Sort(domains)
	has := fmt.Sprintf("all %d values with room have", len(domains))
	switch len(domains) {
	case 1:
		has = domains[0] + " has"
	case 2:
		has = domains[0] + " and " + domains[1] + " have"
	}
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: %s a pod that matches %s already", x.Key, has, who)
	return c
}

// relaxOthers names a pod whose anti-affinity keeps a class away.
func (t *tied) relaxOthers(class *podspec.PodClass, bars []Bar) scheduling.Change {
	b := bars[0]
	who := t.who(b.Tie.Target, podspec.NamespaceOf(class.Pods[0]))
	c := scheduling.Change{Kind: scheduling.ChangePodAntiAffinity, Key: b.Tie.Key}
	whose := "of the pods that keep it away"
	if pod := t.holder(b); pod != "" {
		c.Object, whose = "Pod/"+pod, "of pod "+pod
	}
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s %s instead of requiring it: it is about pods that match %s", b.Tie.Key, whose, who)
	return c
}

// holder returns the first pod whose anti-affinity a bar is.
func (t *tied) holder(b Bar) string {
	var names []string
	at := func(spot int) bool {
		if b.rule < 0 {
			return true
		}
		return spot >= 0 && t.book.Locations.Axes[t.book.Rules[b.rule].Axis].At[spot] == b.at
	}
	holds := func(class int) bool {
		return slices.ContainsFunc(t.in.TopologyTerms.List[t.in.Planned[class].TopologyTerms].Ties, func(x podspec.Tie) bool {
			return x.Kind == podspec.AntiTie && x.Weight == 0 && x.Key == b.Tie.Key && x.Target == b.Tie.Target
		})
	}
	for i := range t.in.ExistingAntiAffinity {
		if k := &t.in.ExistingAntiAffinity[i]; k.Tie.Key == b.Tie.Key && k.Tie.Target == b.Tie.Target {
			if n, ok := t.book.Locations.NodeAt[k.Node]; ok && at(t.book.Locations.OnSale+n) {
				names = append(names, k.Pod)
			}
		}
	}
	for pod, where := range t.places() {
		if class := t.state.ClassOf[pod]; holds(class) && at(where) {
			names = append(names, pod)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// places returns the spots of the pods that the plan places.
func (t *tied) places() map[string]int {
	if t.spotsOf != nil {
		return t.spotsOf
	}
	t.spotsOf = map[string]int{}
	for i := range t.state.plan.Launches {
		for _, pod := range t.state.plan.Launches[i].Pods {
			if _, ok := t.state.ClassOf[pod]; ok {
				t.spotsOf[pod] = t.spots[i]
			}
		}
	}
	for _, a := range t.state.plan.Existing {
		n, ok := t.book.Locations.NodeAt[a.Node]
		for _, pod := range a.Pods {
			if _, known := t.state.ClassOf[pod]; known && ok {
				t.spotsOf[pod] = t.book.Locations.OnSale + n
			}
		}
	}
	return t.spotsOf
}
