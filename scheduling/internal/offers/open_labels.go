package offers

import (
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Questions are the expressions that pods and daemons have on labels, by key. Where
// a pool leaves a label open, they tell which values need to be told apart.
type Questions struct {
	ByKey  map[string][]Question
	Apart  map[string]bool // labels all of whose values have to be told apart
	Levels OpenLabelValues
	groups []*podspec.Constraint
}

// Question is one expression; daemon says that a daemon asks, for which matching
// more machines is no gain.
type Question struct {
	requirements.Requirement
	Daemon bool
}

// Atom is a value of an open label, or its absence, that stands for all values
// which no question tells apart from it.
type Atom struct {
	Value   string
	Absent  bool
	pods    model.Bits // the pods' questions that it satisfies
	daemons model.Bits
}

// OpenKey is a label that a pool leaves open, with its atoms.
type OpenKey struct {
	Key   string
	Atoms []Atom
}

// NewQuestions are what groups of pods and DaemonSets ask of the labels of nodes.
func NewQuestions(groups []*podspec.Constraint, daemons []*Daemon) *Questions {
	q := &Questions{ByKey: map[string][]Question{}, Apart: map[string]bool{}, Levels: NewOpenLabelValues(), groups: groups}
	for _, g := range groups {
		g.Expressions(func(e *podspec.Expression) { q.add(e.Requirement, false) })
		g.VolumeExpressions(func(e *podspec.Expression) { q.add(e.Requirement, false) })
	}
	for _, d := range daemons {
		d.Constraint.Expressions(func(e *podspec.Expression) { q.add(e.Requirement, true) })
	}
	return q
}

func (q *Questions) add(r requirements.Requirement, daemon bool) {
	for _, have := range q.ByKey[r.Key()] {
		if have.Daemon == daemon && have.Equal(r) {
			return
		}
	}
	q.ByKey[r.Key()] = append(q.ByKey[r.Key()], Question{Requirement: r, Daemon: daemon})
}

// Tell adds what the topology terms of some pods ask: their labels' values have to be told apart.
func (q *Questions) Tell(b *podspec.TopologyTerms, pods int) {
	q.Levels.Want(b.Ties, pods)
	for i := range b.Ties {
		if !b.Ties[i].PerHost() {
			q.Apart[requirements.NormalizeKey(b.Ties[i].Key)] = true
		}
	}
	for i := range b.Wishes {
		for j := range b.Wishes[i].Term.Labels {
			q.add(b.Wishes[i].Term.Labels[j].Requirement, false)
		}
	}
}

func (q *Questions) has(key string) bool { return len(q.ByKey[key]) > 0 || q.Apart[key] }

// Atoms lists the values of a label, within what the pool allows, that the
// questions can tell apart. Values that satisfy fewer pods than another one and
// attract the same daemons are left out.
func (q *Questions) Atoms(pool requirements.Requirement) []Atom {
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
	var out []Atom
	if pool.AllowsAbsent() {
		out = append(out, q.answer(asked, Atom{Absent: true}))
	}
	for _, v := range slices.Compact(values) {
		// Negative numbers are values to a requirement, but not to a label.
		if pool.Has(v) && requirements.ValidLabelValue(v) {
			out = append(out, q.answer(asked, Atom{Value: v}))
		}
	}
	if q.Apart[pool.Key()] {
		return out
	}
	return undominated(out)
}

// poolValues are values that the pool's own requirement suggests.
func poolValues(pool requirements.Requirement) []string {
	if !pool.Complement() {
		return pool.Values()
	}
	if v, ok := pool.Any(); ok {
		return []string{v}
	}
	return nil
}

// answer notes which questions an atom satisfies.
func (q *Questions) answer(asked []Question, a Atom) Atom {
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

// undominated drops atoms that another one can stand in for.
func undominated(atoms []Atom) []Atom {
	var out []Atom
	for i, a := range atoms {
		dropped := false
		for j, b := range atoms {
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

// maxCombinations bounds the templates of one pool.
const maxCombinations = 512

// Combine returns the combinations of atoms to make templates of: all of them, or,
// where that would be too many, one for every alternative of every group, so that
// each pod still finds a template and only fewer of them share machines.
func Combine(open []OpenKey, asked *Questions) [][]Atom {
	total := 1
	for _, k := range open {
		if len(k.Atoms) == 0 {
			return nil // the pool allows no value at all
		}
		if total *= len(k.Atoms); total > maxCombinations {
			return asked.needed(open)
		}
	}
	out := [][]Atom{nil}
	for _, k := range open {
		var next [][]Atom
		for _, head := range out {
			for _, a := range k.Atoms {
				next = append(next, append(slices.Clone(head), a))
			}
		}
		out = next
	}
	return out
}

// needed returns one combination for every alternative of every group.
func (q *Questions) needed(open []OpenKey) [][]Atom {
	var out [][]Atom
	seen := map[string]bool{}
	add := func(expressions []podspec.Expression) {
		var choice []Atom
		name := ""
		for _, k := range open {
			best := -1
			for i, a := range k.Atoms {
				if Satisfies(a, k.Key, expressions) && (best < 0 || a.pods.Count() > k.Atoms[best].pods.Count()) {
					best = i
				}
			}
			if best < 0 {
				return
			}
			choice = append(choice, k.Atoms[best])
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

// Satisfies reports whether an atom of a label satisfies all expressions on it.
func Satisfies(a Atom, key string, expressions []podspec.Expression) bool {
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

// maxOpenLabelValues bounds the values that are made up for one open label.
const maxOpenLabelValues = 8

// OpenLabelValues are how many values of its own choice a plan may need for a label that pools
// leave open: pods that keep apart over it need one each, and a spread with minDomains
// needs as many. Where pods are spread over it otherwise, one is enough: each further
// value would be one more that they have to be spread over.
type OpenLabelValues struct {
	Wanted map[string]int
	Spread map[string]bool
	Taken  map[string][]string // values that running nodes have
}

// NewOpenLabelValues returns no values.
func NewOpenLabelValues() OpenLabelValues {
	return OpenLabelValues{Wanted: map[string]int{}, Spread: map[string]bool{}, Taken: map[string][]string{}}
}

// Want notes the ties of so many pods.
func (l *OpenLabelValues) Want(ties []podspec.Tie, pods int) {
	for i := range ties {
		t := &ties[i]
		if t.PerHost() || t.Weight > 0 {
			continue
		}
		key, n := requirements.NormalizeKey(t.Key), 0
		switch {
		case t.Kind == podspec.AntiTie:
			n = pods + 1
		case t.Kind == podspec.SpreadTie && t.MinDomains > 1:
			n = int(min(t.MinDomains, maxOpenLabelValues))
		case t.Kind == podspec.SpreadTie:
			l.Spread[key] = true
		}
		l.Wanted[key] = max(l.Wanted[key], min(n, maxOpenLabelValues))
	}
}

// Add makes up values of a label where a pool allows others than those that it has and
// too few of these are free.
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
