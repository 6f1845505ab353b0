package scheduling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// obstacle is one tie, by what it keeps pods away for.
type obstacle struct {
	tie  tie
	rule int
}

// tieFixes says how the ties could give way that alone keep a class from places.
func (e *explainer) tieFixes(class *podClass, id int, out *changeList) {
	if !e.tied.ties(id) {
		return
	}
	single := map[obstacle][]bar{}
	var order []obstacle
	var fewest []bar        // of a place that several ties keep the class from
	seen := map[*bar]bool{} // bars of one site are one slice
	note := func(bars []bar) {
		if len(bars) == 0 || seen[&bars[0]] {
			return
		}
		seen[&bars[0]] = true
		first := obstacle{bars[0].tie, bars[0].rule}
		if slices.ContainsFunc(bars, func(b bar) bool { return (obstacle{b.tie, b.rule}) != first }) {
			if fewest == nil || len(bars) < len(fewest) {
				fewest = bars
			}
			return
		}
		if single[first] == nil {
			order = append(order, first)
		}
		for _, b := range bars {
			if !slices.Contains(single[first], b) {
				single[first] = append(single[first], b)
			}
		}
	}
	for ti, s := range e.screened(class.group) {
		if !e.enough(ti, s.admitted, class.requests) {
			continue
		}
		s.admitted.Each(func(o int) {
			if e.takes(class, ti, o) && e.affords(ti, o) {
				note(e.offerBars(id, ti, o))
			}
		})
	}
	for i := range e.nodes {
		if e.suits[i].Has(class.group) && e.nodeHolds(class, i) {
			note(e.tied.nodeBars(id, i))
		}
	}
	for _, o := range order {
		relaxed := e.tied.relax(class, id, single[o])
		out.add(relaxed[0])
		e.blockers(class, id, single[o], out)
		for _, c := range relaxed[1:] {
			out.add(c)
		}
	}
	if len(order) == 0 && fewest != nil {
		var changes []Change
		var texts []string
		for _, b := range fewest {
			c := e.tied.lift(class, id, b)
			if !slices.Contains(texts, c.Text) {
				changes, texts = append(changes, c), append(texts, c.Text)
			}
		}
		c := changes[0]
		c.Text, c.And = strings.Join(texts, ", and "), changes[1:]
		out.add(c)
	}
}

// nodeHolds reports whether a node that suits a class has room for a pod of it.
func (e *explainer) nodeHolds(class *podClass, bin int) bool {
	group, x := e.classes.groups[class.group], e.nodes[bin]
	return !portsClash(group.ports, x.ports) && x.attached.turnsAway(group) == "" &&
		model.Fits(e.left[bin], class.requests) && !e.portsTaken(class, bin)
}

// relax says how one tie could give way that keeps a class from places, the smallest
// change first. There is at least one.
func (t *tied) relax(class *podClass, id int, bars []bar) []Change {
	x := bars[0].tie
	if bars[0].kind == turnedAway {
		return []Change{t.relaxOthers(class, bars)}
	}
	if !slices.ContainsFunc(bars, func(b bar) bool { return b.kind != lacksKey }) {
		c := Change{Kind: ChangePodAffinity, Key: x.key}
		if x.kind == spreadTie {
			c.Kind = ChangeScheduleAnyway
		}
		c.Text = fmt.Sprintf("prefer the %s instead of requiring it, or give machines the label %s", x.text(), x.key)
		return []Change{c}
	}
	switch x.kind {
	case spreadTie:
		if x.share {
			return []Change{{Kind: ChangeWorkloadShare, Object: "Policy", Text: "let one machine hold a larger share of a workload"}}
		}
		return t.relaxSpread(id, bars)
	case affinityTie:
		return t.relaxAffinity(class, bars)
	default:
		return []Change{t.relaxAnti(class, bars)}
	}
}

// lift says how the pod itself could do without one tie.
func (t *tied) lift(class *podClass, id int, b bar) Change {
	all := t.relax(class, id, []bar{b})
	if b.tie.kind == affinityTie {
		return all[len(all)-1]
	}
	return all[0]
}

// relaxSpread says which skew would do.
func (t *tied) relaxSpread(id int, bars []bar) []Change {
	x := bars[0].tie
	var out []Change
	own := t.selfMatch(id, x.target)
	least := int64(-1)
	for _, b := range bars {
		if b.kind != tooMany {
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
		if short := t.rules[rule].minDomains; m.domains < short && t.evenWithout(rule, bars, own) {
			out = append(out, Change{
				Kind: ChangeMinDomains, Key: x.key, From: strconv.FormatInt(short, 10), To: strconv.FormatInt(m.domains, 10),
				Text: fmt.Sprintf("minDomains ≤ %d over %s would do (it is %d)", m.domains, x.key, short),
			})
		}
	}
	skew := x.maxSkew + least
	return append(out, Change{
		Kind: ChangeMaxSkew, Key: x.key, From: strconv.FormatInt(x.maxSkew, 10), To: strconv.FormatInt(skew, 10),
		Text: fmt.Sprintf("maxSkew ≥ %d over %s would do for one more (it is %d)", skew, x.key, x.maxSkew),
	}, Change{
		Kind: ChangeScheduleAnyway, Key: x.key,
		Text: fmt.Sprintf("whenUnsatisfiable: ScheduleAnyway over %s would do", x.key),
	})
}

// evenWithout reports whether a spread would let one more pod in if it asked for no
// more domains than there are.
func (t *tied) evenWithout(rule int, bars []bar, own bool) bool {
	r := &t.rules[rule]
	least := int64(-1)
	for _, d := range r.domains {
		if d.Eligible && (least < 0 || d.Count < least) {
			least = d.Count
		}
	}
	return slices.ContainsFunc(bars, func(b bar) bool {
		if b.kind != tooMany || b.at < 0 {
			return false
		}
		n := r.domains[b.at].Count - least
		if own {
			n++
		}
		return n <= r.maxSkew
	})
}

// relaxAffinity says which pod is missing.
func (t *tied) relaxAffinity(class *podClass, bars []bar) []Change {
	x := bars[0].tie
	who := t.who(x.target, namespaceOf(class.pods[0]))
	where := "where " + x.key + " is the same"
	if x.perHost() {
		where = "on the same node"
	}
	wish := Change{Kind: ChangePodAffinity, Key: x.key, Text: fmt.Sprintf("prefer the pod affinity over %s instead of requiring it", x.key)}
	switch bars[0].kind {
	case nobody:
		if t.selectsNone(x.target) {
			wish.Text = fmt.Sprintf("give the pod affinity over %s a selector: without one it matches no pod", x.key)
			return []Change{wish}
		}
		c := Change{Kind: ChangePods, Key: x.key, Text: fmt.Sprintf("needs a pod that matches %s %s; none runs or is planned", who, where)}
		if other := t.waiting(x.target, class); other != nil {
			c.Object = "Pod/" + podName(other)
			c.Text = fmt.Sprintf("place pod %s first, which has no place either: needs a pod that matches %s %s", podName(other), who, where)
		}
		return []Change{c, wish}
	default:
		return []Change{wish}
	}
}

// relaxAnti says what keeps the pods of a class apart from others.
func (t *tied) relaxAnti(class *podClass, bars []bar) Change {
	x := bars[0].tie
	who := t.who(x.target, namespaceOf(class.pods[0]))
	c := Change{Kind: ChangePodAntiAffinity, Key: x.key}
	if x.perHost() {
		c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: every node with room has a pod that matches %s", x.key, who)
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
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: %s a pod that matches %s already", x.key, has, who)
	return c
}

// relaxOthers names a pod whose anti-affinity keeps a class away.
func (t *tied) relaxOthers(class *podClass, bars []bar) Change {
	b := bars[0]
	who := t.who(b.tie.target, namespaceOf(class.pods[0]))
	c := Change{Kind: ChangePodAntiAffinity, Key: b.tie.key}
	whose := "of the pods that keep it away"
	if pod := t.holder(b); pod != "" {
		c.Object, whose = "Pod/"+pod, "of pod "+pod
	}
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s %s instead of requiring it: it is about pods that match %s", b.tie.key, whose, who)
	return c
}

// holder returns the first pod whose anti-affinity a bar is.
func (t *tied) holder(b bar) string {
	var names []string
	at := func(spot int) bool {
		if b.rule < 0 {
			return true
		}
		return spot >= 0 && t.land.axes[t.rules[b.rule].axis].at[spot] == b.at
	}
	holds := func(class int) bool {
		return slices.ContainsFunc(t.scene.bonds.list[t.scene.planned[class].bonds].ties, func(x tie) bool {
			return x.kind == antiTie && x.weight == 0 && x.key == b.tie.key && x.target == b.tie.target
		})
	}
	for i := range t.scene.keepers {
		if k := &t.scene.keepers[i]; k.key == b.tie.key && k.target == b.tie.target {
			if n, ok := t.land.nodeAt[k.node]; ok && at(t.land.onSale+n) {
				names = append(names, k.pod)
			}
		}
	}
	for pod, where := range t.places() {
		if class := t.scene.classOf[pod]; holds(class) && at(where) {
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
	for i := range t.scene.plan.Launches {
		for _, pod := range t.scene.plan.Launches[i].Pods {
			if _, ok := t.scene.classOf[pod]; ok {
				t.spotsOf[pod] = t.spots[i]
			}
		}
	}
	for _, a := range t.scene.plan.Existing {
		n, ok := t.land.nodeAt[a.Node]
		for _, pod := range a.Pods {
			if _, known := t.scene.classOf[pod]; known && ok {
				t.spotsOf[pod] = t.land.onSale + n
			}
		}
	}
	return t.spotsOf
}
