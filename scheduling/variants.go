package scheduling

import (
	"slices"
	"strconv"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// questions are the expressions that pods and daemons have on labels, by key. Where
// a pool leaves a label open, they tell which values need to be told apart.
type questions struct {
	byKey  map[string][]question
	apart  map[string]bool // labels all of whose values have to be told apart
	levels levels
	groups []*constraint
}

// question is one expression; daemon says that a daemon asks, for which matching
// more machines is no gain.
type question struct {
	requirements.Requirement
	daemon bool
}

// atom is a value of an open label, or its absence, that stands for all values
// which no question tells apart from it.
type atom struct {
	value   string
	absent  bool
	pods    model.Bits // the pods' questions that it satisfies
	daemons model.Bits
}

// openKey is a label that a pool leaves open, with its atoms.
type openKey struct {
	key   string
	atoms []atom
}

func newQuestions(groups []*constraint, daemons []*daemon) *questions {
	q := &questions{byKey: map[string][]question{}, apart: map[string]bool{}, levels: newLevels(), groups: groups}
	for _, g := range groups {
		g.expressions(func(e *expression) { q.add(e.Requirement, false) })
		g.volumeExpressions(func(e *expression) { q.add(e.Requirement, false) })
	}
	for _, d := range daemons {
		d.constraint.expressions(func(e *expression) { q.add(e.Requirement, true) })
	}
	return q
}

func (q *questions) add(r requirements.Requirement, daemon bool) {
	for _, have := range q.byKey[r.Key()] {
		if have.daemon == daemon && have.Equal(r) {
			return
		}
	}
	q.byKey[r.Key()] = append(q.byKey[r.Key()], question{Requirement: r, daemon: daemon})
}

// tell adds what the bonds of some pods ask: their labels' values have to be told apart.
func (q *questions) tell(b *bonds, pods int) {
	q.levels.want(b.ties, pods)
	for i := range b.ties {
		if !b.ties[i].perHost() {
			q.apart[requirements.NormalizeKey(b.ties[i].key)] = true
		}
	}
	for i := range b.wishes {
		for j := range b.wishes[i].term.labels {
			q.add(b.wishes[i].term.labels[j].Requirement, false)
		}
	}
}

func (q *questions) has(key string) bool { return len(q.byKey[key]) > 0 || q.apart[key] }

// atoms lists the values of a label, within what the pool allows, that the
// questions can tell apart. Values that satisfy fewer pods than another one and
// attract the same daemons are left out.
func (q *questions) atoms(pool requirements.Requirement) []atom {
	asked := q.byKey[pool.Key()]
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
	values = q.levels.add(pool, values)
	slices.Sort(values)
	var out []atom
	if pool.AllowsAbsent() {
		out = append(out, q.answer(asked, atom{absent: true}))
	}
	for _, v := range slices.Compact(values) {
		// Negative numbers are values to a requirement, but not to a label.
		if pool.Has(v) && requirements.ValidLabelValue(v) {
			out = append(out, q.answer(asked, atom{value: v}))
		}
	}
	if q.apart[pool.Key()] {
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
func (q *questions) answer(asked []question, a atom) atom {
	a.pods, a.daemons = model.NewBits(len(asked)), model.NewBits(len(asked))
	for i, x := range asked {
		if a.absent && !x.AllowsAbsent() || !a.absent && !x.Has(a.value) {
			continue
		}
		if x.daemon {
			a.daemons.Set(i)
		} else {
			a.pods.Set(i)
		}
	}
	return a
}

// undominated drops atoms that another one can stand in for.
func undominated(atoms []atom) []atom {
	var out []atom
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

// combine returns the combinations of atoms to make templates of: all of them, or,
// where that would be too many, one for every alternative of every group, so that
// each pod still finds a template and only fewer of them share machines.
func combine(open []openKey, asked *questions) [][]atom {
	total := 1
	for _, k := range open {
		if len(k.atoms) == 0 {
			return nil // the pool allows no value at all
		}
		if total *= len(k.atoms); total > maxCombinations {
			return asked.needed(open)
		}
	}
	out := [][]atom{nil}
	for _, k := range open {
		var next [][]atom
		for _, head := range out {
			for _, a := range k.atoms {
				next = append(next, append(slices.Clone(head), a))
			}
		}
		out = next
	}
	return out
}

// needed returns one combination for every alternative of every group.
func (q *questions) needed(open []openKey) [][]atom {
	var out [][]atom
	seen := map[string]bool{}
	add := func(expressions []expression) {
		var choice []atom
		name := ""
		for _, k := range open {
			best := -1
			for i, a := range k.atoms {
				if satisfies(a, k.key, expressions) && (best < 0 || a.pods.Count() > k.atoms[best].pods.Count()) {
					best = i
				}
			}
			if best < 0 {
				return
			}
			choice = append(choice, k.atoms[best])
			name += strconv.Itoa(best) + ","
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, choice)
		}
	}
	for _, g := range q.groups {
		for _, alternative := range g.alternatives() {
			add(alternative)
		}
	}
	return out
}

// satisfies reports whether an atom of a label satisfies all expressions on it.
func satisfies(a atom, key string, expressions []expression) bool {
	for i := range expressions {
		e := &expressions[i]
		if e.Key() != key {
			continue
		}
		if a.absent && !e.AllowsAbsent() || !a.absent && !e.Has(a.value) {
			return false
		}
	}
	return true
}
