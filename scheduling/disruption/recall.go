package disruption

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// recall remembers what what-ifs came to. A search begins again and again from the same
// cluster, each time with other nodes that are to go, and asks half of its questions for
// the second time. All states that come from one share it.
type recall struct {
	known map[string]*outcome
	// tried is what replacing groups of nodes came to, by groupKey.
	tried map[string][]*trial
}

const (
	// mostRecalling is the number of nodes of clusters up to which answers are remembered: in
	// larger ones they take more room, and what is asked is hardly ever the same.
	mostRecalling = 500
	// mostRecalled is how many answers are remembered.
	mostRecalled = 4_096
)

func newRecall(nodes int) *recall {
	if nodes > mostRecalling {
		return nil
	}
	return &recall{known: map[string]*outcome{}, tried: map[string][]*trial{}}
}

// get returns the answer that is remembered, a copy, or nil.
func (r *recall) get(key string) *outcome {
	if r == nil || r.known[key] == nil {
		return nil
	}
	return r.known[key].clone()
}

func (r *recall) put(key string, o *outcome) {
	if key == "" {
		return
	}
	if len(r.known) >= mostRecalled {
		clear(r.known)
	}
	r.known[key] = o.clone()
}

// clone is an outcome with lists of its own.
func (o *outcome) clone() *outcome {
	c := *o
	c.nodes, c.launches, c.evictions, c.stuck = slices.Clone(o.nodes), slices.Clone(o.launches), slices.Clone(o.evictions), slices.Clone(o.stuck)
	return &c
}

// key tells a question to a state from all others: by what was done before, the nodes that
// are closed, and what it asks. It is "" for those that are not remembered.
func (s *state) key(q *question) string {
	if s.recall == nil || q.why || q.stays != nil || len(q.launches) > 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(s.past)
	words := func(list []string) {
		for _, word := range list {
			b.WriteString(word)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	var shut []string
	for name, at := range s.nodes {
		if at.shut > 0 {
			shut = append(shut, name)
		}
	}
	slices.Sort(shut)
	words(shut)
	words(slices.Sorted(slices.Values(q.nodes)))
	words(slices.Sorted(slices.Values(q.closed)))
	fmt.Fprint(&b, q.effort, q.buy, q.alone, q.loose)
	return b.String()
}

// passed notes that a step is done. Launches differ by what is bought, not by what might
// have been.
func (s *state) passed(step *Step) error {
	if s.recall == nil {
		return nil
	}
	did := struct {
		Drain     []string
		Launches  []scheduling.Launch
		Evictions []Eviction
	}{step.Drain, slices.Clone(step.Launches), step.Evictions}
	for i := range did.Launches {
		l := &did.Launches[i]
		l.Options = l.Options[:1]
	}
	text, err := json.Marshal(did)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(s.past), text...))
	s.past = string(sum[:])
	return nil
}
