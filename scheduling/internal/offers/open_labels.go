package offers

import (
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Questions are the requirements of pods and daemons on labels, by key. They decide which values of a label that a
// NodePool leaves open need templates of their own.
type Questions struct {
	ByKey        map[string][]Question
	TopologyKeys map[string]bool // topology keys: every value is a domain, so none dominates another
	Levels       OpenLabelValues
	groups       []*podspec.Constraint
}

// Question is one requirement. Daemon says that a daemon has it: a value that satisfies it is then no advantage, because
// the daemon takes room.
type Question struct {
	requirements.Requirement
	Daemon bool
}

// OpenValue is a value of an open label, or its absence. It stands for all values that satisfy the same requirements.
type OpenValue struct {
	Value   string
	Absent  bool
	pods    model.Bits // the requirements of pods that it satisfies
	daemons model.Bits
}

// OpenKey is a label that a NodePool leaves open, with its open values.
type OpenKey struct {
	Key    string
	Values []OpenValue
}

// NewQuestions collects the requirements of groups of pods and of DaemonSets on labels of nodes.
func NewQuestions(groups []*podspec.Constraint, daemons []*Daemon) *Questions {
	q := &Questions{ByKey: map[string][]Question{}, TopologyKeys: map[string]bool{}, Levels: NewOpenLabelValues(), groups: groups}
	for _, g := range groups {
		g.Expressions(func(e *podspec.Expression) { q.add(e.Requirement, false) })
		g.VolumeExpressions(func(e *podspec.Expression) { q.add(e.Requirement, false) })
	}
	for _, d := range daemons {
		d.Constraint.Expressions(func(e *podspec.Expression) { q.add(e.Requirement, true) })
	}
	return q
}

// add adds a requirement, each once.
func (q *Questions) add(r requirements.Requirement, daemon bool) {
	for _, have := range q.ByKey[r.Key()] {
		if have.Daemon == daemon && have.Equal(r) {
			return
		}
	}
	q.ByKey[r.Key()] = append(q.ByKey[r.Key()], Question{Requirement: r, Daemon: daemon})
}

// Tell adds the topology keys and preferred node affinity of a number of pods.
func (q *Questions) Tell(b *podspec.TopologyTerms, pods int) {
	q.Levels.Want(b.Terms, pods)
	for i := range b.Terms {
		if !b.Terms[i].PerHost() {
			q.TopologyKeys[requirements.NormalizeKey(b.Terms[i].Key)] = true
		}
	}
	for i := range b.Preferences {
		for j := range b.Preferences[i].Term.Labels {
			q.add(b.Preferences[i].Term.Labels[j].Requirement, false)
		}
	}
}

// has reports whether pods or daemons ask about a label.
func (q *Questions) has(key string) bool { return len(q.ByKey[key]) > 0 || q.TopologyKeys[key] }

// OpenValues lists the values of a label, within a NodePool's requirement, that requirements can distinguish: values that they
// mention, integers next to a bound (e.g. next to 4 for Gt 4), and a value that none mentions. A value that another one
// dominates, i.e. that satisfies no more pods and attracts no fewer daemons, is left out, except for topology keys.
func (q *Questions) OpenValues(pool requirements.Requirement) []OpenValue {
	asked := q.ByKey[pool.Key()]
	var values []string
	values = append(values, poolValues(pool)...)
	var mentioned []string
	for _, x := range asked {
		mentioned = append(mentioned, x.Values()...)
		lower, upper := x.Bounds()
		for _, b := range []*int64{lower, upper} {
			if b != nil {
				for _, n := range []int64{*b - 1, *b, *b + 1} {
					mentioned = append(mentioned, strconv.FormatInt(n, 10))
				}
			}
		}
	}
	values = append(values, mentioned...)
	if len(mentioned) > 0 {
		if fresh, ok := pool.Intersect(requirements.MustNew(pool.Key(), requirements.NotIn, mentioned...)).Any(); ok {
			values = append(values, fresh)
		}
	}
	values = q.Levels.Add(pool, values)
	slices.Sort(values)
	var out []OpenValue
	if pool.AllowsAbsent() {
		out = append(out, q.answer(asked, OpenValue{Absent: true}))
	}
	for _, v := range slices.Compact(values) {
		// Negative numbers are values to a requirement, but not to a label.
		if pool.Has(v) && requirements.ValidLabelValue(v) {
			out = append(out, q.answer(asked, OpenValue{Value: v}))
		}
	}
	if q.TopologyKeys[pool.Key()] {
		return out
	}
	return undominated(out)
}

// poolValues are the values that the requirement lists, or any one that it allows.
func poolValues(pool requirements.Requirement) []string {
	if !pool.Complement() {
		return pool.Values()
	}
	if v, ok := pool.Any(); ok {
		return []string{v}
	}
	return nil
}

// answer sets the requirements that an open value satisfies.
func (q *Questions) answer(asked []Question, a OpenValue) OpenValue {
	a.pods, a.daemons = model.NewBits(len(asked)), model.NewBits(len(asked))
	for i, x := range asked {
		if a.Absent && !x.AllowsAbsent() || !a.Absent && !x.Has(a.Value) {
			continue
		}
		if x.Daemon {
			a.daemons.Set(i)
		} else {
			a.pods.Set(i)
		}
	}
	return a
}

// undominated drops open values that another one dominates.
func undominated(values []OpenValue) []OpenValue {
	var out []OpenValue
	for i, a := range values {
		dropped := false
		for j, b := range values {
			if i == j || !b.pods.Contains(a.pods) || !a.daemons.Contains(b.daemons) {
				continue
			}
			same := a.pods.Contains(b.pods) && b.daemons.Contains(a.daemons)
			if !same || j < i {
				dropped = true
				break
			}
		}
		if !dropped {
			out = append(out, a)
		}
	}
	return out
}

// maxCombinations is the number of templates of one NodePool above which not all combinations are built.
const maxCombinations = 512

// Combine returns the combinations of open values for templates. If they are more than [maxCombinations], it is one for every
// alternative of every group's node constraints: each pod still has a template, but fewer pods share nodes.
func Combine(open []OpenKey, asked *Questions) [][]OpenValue {
	total := 1
	for _, k := range open {
		if len(k.Values) == 0 {
			return nil // because the NodePool allows no value
		}
		if total *= len(k.Values); total > maxCombinations {
			return asked.needed(open)
		}
	}
	out := [][]OpenValue{nil}
	for _, k := range open {
		var next [][]OpenValue
		for _, head := range out {
			for _, a := range k.Values {
				next = append(next, append(slices.Clone(head), a))
			}
		}
		out = next
	}
	return out
}

// needed returns one combination for every alternative of every group.
func (q *Questions) needed(open []OpenKey) [][]OpenValue {
	var out [][]OpenValue
	seen := map[string]bool{}
	add := func(expressions []podspec.Expression) {
		var choice []OpenValue
		name := ""
		for _, k := range open {
			best := -1
			for i, a := range k.Values {
				if Satisfies(a, k.Key, expressions) && (best < 0 || a.pods.Count() > k.Values[best].pods.Count()) {
					best = i
				}
			}
			if best < 0 {
				return
			}
			choice = append(choice, k.Values[best])
			name += strconv.Itoa(best) + ","
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, choice)
		}
	}
	for _, g := range q.groups {
		for _, alternative := range g.Alternatives() {
			add(alternative)
		}
	}
	return out
}

// Satisfies reports whether an open value of a label satisfies all expressions with the key.
func Satisfies(a OpenValue, key string, expressions []podspec.Expression) bool {
	for i := range expressions {
		e := &expressions[i]
		if e.Key() != key {
			continue
		}
		if a.Absent && !e.AllowsAbsent() || !a.Absent && !e.Has(a.Value) {
			return false
		}
	}
	return true
}

// maxOpenLabelValues bounds the values that are generated for one open label.
const maxOpenLabelValues = 8

// OpenLabelValues counts the values to generate for labels that NodePools leave open: one for each pod with
// anti-affinity over the label, and minDomains for a spread. A spread without minDomains needs no more than one, because
// each further value is a domain that must be filled, too.
type OpenLabelValues struct {
	Wanted map[string]int
	Spread map[string]bool
	Taken  map[string][]string // values that existing nodes have
}

// NewOpenLabelValues is an empty count.
func NewOpenLabelValues() OpenLabelValues {
	return OpenLabelValues{Wanted: map[string]int{}, Spread: map[string]bool{}, Taken: map[string][]string{}}
}

// Want adds the topology terms of a number of pods.
func (l *OpenLabelValues) Want(terms []podspec.TopologyTerm, pods int) {
	for i := range terms {
		t := &terms[i]
		if t.PerHost() || t.Weight > 0 {
			continue
		}
		key, n := requirements.NormalizeKey(t.Key), 0
		switch {
		case t.Kind == podspec.AntiAffinityTerm:
			n = pods + 1
		case t.Kind == podspec.SpreadTerm && t.MinDomains > 1:
			n = int(min(t.MinDomains, maxOpenLabelValues))
		case t.Kind == podspec.SpreadTerm:
			l.Spread[key] = true
		}
		l.Wanted[key] = max(l.Wanted[key], min(n, maxOpenLabelValues))
	}
}

// Add appends generated values to values until enough of them are not taken by existing nodes, as far as the requirement
// of the NodePool allows.
func (l *OpenLabelValues) Add(pool requirements.Requirement, values []string) []string {
	n, taken := l.Wanted[pool.Key()], l.Taken[pool.Key()]
	if n == 0 || l.Spread[pool.Key()] || !pool.Complement() {
		return values
	}
	values = podspec.Compacted(values)
	for _, v := range values {
		if pool.Has(v) && !slices.Contains(taken, v) {
			n--
		}
	}
	for ; n > 0; n-- {
		fresh, ok := pool.Intersect(requirements.MustNew(pool.Key(), requirements.NotIn, slices.Concat(values, taken)...)).Any()
		if !ok || !requirements.ValidLabelValue(fresh) {
			break
		}
		values = append(values, fresh)
	}
	return values
}
