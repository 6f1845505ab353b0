package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// selector is what a pod asks of its node's labels: one of the terms has to hold.
type selector []term

// term is a conjunction.
type term struct {
	exprs  []expression
	fields []corev1.NodeSelectorRequirement
}

// expression is one condition on a label.
type expression struct {
	key    string
	op     corev1.NodeSelectorOperator
	values []string
}

// selectorOf reads nodeSelector and the required node affinity. As in
// kube-scheduler, a term that is empty or has a malformed expression matches nothing.
func selectorOf(spec *corev1.PodSpec) selector {
	var base []expression
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		base = append(base, expression{key: key, op: requirements.In, values: []string{spec.NodeSelector[key]}})
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil ||
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return selector{{exprs: base}}
	}
	return alternatives(base, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
}

// alternatives reads terms of which one has to hold, each together with what has to
// hold anyway.
func alternatives(base []expression, terms []corev1.NodeSelectorTerm) selector {
	sel := selector{}
	for _, t := range terms {
		malformed := func(e corev1.NodeSelectorRequirement) bool { return !wellFormed(e) }
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 || slices.ContainsFunc(t.MatchExpressions, malformed) {
			continue
		}
		exprs := slices.Clone(base)
		for _, e := range t.MatchExpressions {
			exprs = append(exprs, expression{key: e.Key, op: e.Operator, values: e.Values})
		}
		sel = append(sel, term{exprs: exprs, fields: t.MatchFields})
	}
	return sel
}

// wellFormed reports whether an API server would let the condition pass.
func wellFormed(e corev1.NodeSelectorRequirement) bool {
	op, known := map[corev1.NodeSelectorOperator]selection.Operator{
		requirements.In: selection.In, requirements.NotIn: selection.NotIn, requirements.Exists: selection.Exists,
		requirements.DoesNotExist: selection.DoesNotExist, requirements.Gt: selection.GreaterThan, requirements.Lt: selection.LessThan,
	}[e.Operator]
	_, err := labels.NewRequirement(e.Key, op, e.Values)
	return known && err == nil
}

// holds evaluates the condition on the value of a label, or on its absence.
func (e expression) holds(value string, present bool) bool {
	switch e.op {
	case requirements.In:
		return present && slices.Contains(e.values, value)
	case requirements.NotIn:
		return !present || !slices.Contains(e.values, value)
	case requirements.Exists:
		return present
	case requirements.DoesNotExist:
		return !present
	}
	if !present || len(e.values) != 1 {
		return false
	}
	limit, err := strconv.ParseInt(e.values[0], 10, 64)
	n, also := strconv.ParseInt(value, 10, 64)
	return err == nil && also == nil && (e.op == requirements.Gt && n > limit || e.op == requirements.Lt && n < limit ||
		e.op == requirements.Gte && n >= limit || e.op == requirements.Lte && n <= limit)
}

func (e expression) String() string {
	if len(e.values) == 0 {
		return fmt.Sprintf("%s %s", e.key, e.op)
	}
	return fmt.Sprintf("%s %s %v", e.key, e.op, e.values)
}

// fromSelectors reads the requirements of a NodePool or a launch.
func fromSelectors(selectors []requirements.Selector) []expression {
	exprs := make([]expression, len(selectors))
	for i, s := range selectors {
		exprs[i] = expression{key: s.Key, op: s.Operator, values: s.Values}
	}
	return exprs
}

// about returns the conditions on one label, under any of its names.
func about(key string, exprs []expression) []expression {
	var out []expression
	for _, e := range exprs {
		if requirements.NormalizeKey(e.key) == requirements.NormalizeKey(key) {
			out = append(out, e)
		}
	}
	return out
}

// opening is what is known about a label whose value is not fixed.
type opening struct {
	rule  quantifier
	known []expression
}

// quantifier says which of the values that an open label may take have to suit.
type quantifier int

const (
	shut  quantifier = iota // the label is absent
	some                    // one value that can be chosen
	every                   // all values, since somebody else chooses
)

// allows tries the values that the label may take under what is known about it. It
// is enough to try those that somebody names, the integers next to them, one that
// nobody names, and no label at all: all others behave like one of these. Where
// every value has to suit there must be one at least.
func (o opening) allows(exprs []expression) bool {
	found := false
	for _, c := range candidates(o.known, exprs) {
		if !allHold(o.known, c) {
			continue
		}
		suits := allHold(exprs, c)
		if suits != (o.rule == every) {
			return suits
		}
		found = true
	}
	return found && o.rule == every
}

// candidate is a value that an open label may take; absent is no label at all.
type candidate struct {
	value  string
	absent bool
}

func allHold(exprs []expression, c candidate) bool {
	return !slices.ContainsFunc(exprs, func(e expression) bool { return !e.holds(c.value, !c.absent) })
}

func candidates(lists ...[]expression) []candidate {
	all := []candidate{{absent: true}, {value: unnamed(lists...)}, {value: "0"}}
	for _, exprs := range lists {
		for _, e := range exprs {
			for _, v := range e.values {
				all = append(all, candidate{value: v})
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					continue
				}
				if n > 0 { // labels cannot start with a minus
					all = append(all, candidate{value: strconv.FormatInt(n-1, 10)})
				}
				if n >= 0 && n < math.MaxInt64 {
					all = append(all, candidate{value: strconv.FormatInt(n+1, 10)})
				}
			}
		}
	}
	return all
}

// unnamed returns a value that is no number and that nobody names.
func unnamed(lists ...[]expression) string {
	value := "other"
	for slices.ContainsFunc(lists, func(exprs []expression) bool {
		return slices.ContainsFunc(exprs, func(e expression) bool { return slices.Contains(e.values, value) })
	}) {
		value += "x"
	}
	return value
}

// maxChoices bounds how many ways to fill in open labels are tried.
const maxChoices = 4096

// choicesOf returns the planned node with the open labels filled in that daemons ask about, in
// every way that pool and pod allow. Where there are too many ways it returns one node, on which
// only those daemons run that run whatever is chosen.
func (w *world) choicesOf(n *node, asked []expression) []*node {
	first := *n
	first.open = func(string) opening { return opening{} }
	choices := []*node{&first}
	questions := w.daemonQuestions(n)
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		limits := slices.Concat(about(key, n.pool.asks), about(key, asked))
		var next []*node
		for _, c := range candidates(limits, questions[key]) {
			if !allHold(limits, c) {
				continue
			}
			for _, p := range choices {
				filled := *p
				if !c.absent {
					filled.labels = maps.Clone(p.labels)
					filled.labels[key] = c.value
				}
				next = append(next, &filled)
			}
		}
		if n.pool.providers(key) && allHold(about(key, asked), candidate{absent: true}) {
			// Nobody has to say anything about a label of the provider's. Then each
			// daemon that may run there counts.
			for _, p := range choices {
				left := *p
				left.open = func(k string) opening {
					if k == key {
						return opening{rule: some, known: about(key, n.pool.asks)}
					}
					return p.open(k)
				}
				next = append(next, &left)
			}
		}
		if choices = next; len(choices) > maxChoices {
			certain := *n
			certain.open = func(key string) opening { return n.opened(every, key, asked) }
			return []*node{&certain}
		}
	}
	return choices
}

// daemonQuestions are the conditions that daemons put on labels which are open on the
// planned node, by label.
func (w *world) daemonQuestions(n *node) map[string][]expression {
	questions := make(map[string][]expression)
	for _, d := range w.daemons {
		for _, t := range d.wants {
			for _, e := range t.exprs {
				key := requirements.NormalizeKey(e.key)
				if _, fixed := n.value(key); !fixed && (n.pool.chooses(key) || n.pool.providers(key)) {
					questions[key] = append(questions[key], e)
				}
			}
		}
	}
	return questions
}
