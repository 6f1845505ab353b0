package verify

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// maxChoices bounds how many ways to fill in open labels are tried.
const maxChoices = 4096

// roomsFor returns what the machine may have for pods once the pod sits on it: one
// room for each way to choose the labels that are still open and that some DaemonSet
// asks about. None if the pod could not have the machine for itself.
func (w *world) roomsFor(m *machine, t *tenant) []amounts {
	if !m.holdsAlone(t) {
		return nil
	}
	var rooms []amounts
	for _, alternative := range t.wants {
		if !m.admits(selector{alternative}) {
			continue
		}
		for _, c := range w.choicesOf(m, alternative.exprs) {
			daemons, ports := w.daemonsAt(c)
			room := m.allocatable.minus(daemons)
			if _, busy := clash(t.ports, ports); !busy && len(exceeding(t.requests, room)) == 0 {
				rooms = append(rooms, room)
			}
		}
	}
	return rooms
}

// choicesOf returns the machine's place with the open labels filled in that daemons
// ask about, in every way that pool and pod allow. Where there are too many ways it
// returns one place, on which only those daemons run that run whatever is chosen.
func (w *world) choicesOf(m *machine, asked []expression) []*place {
	questions := w.daemonQuestions(m)
	choices := []*place{{labels: m.labels, taints: m.taints, planned: true, open: func(string) opening { return opening{} }}}
	for _, key := range slices.Sorted(maps.Keys(questions)) {
		limits := slices.Concat(about(key, m.pool.asks), about(key, asked))
		var next []*place
		for _, c := range candidates(limits, questions[key]) {
			if !allHold(limits, c) {
				continue
			}
			for _, p := range choices {
				next = append(next, p.with(key, c))
			}
		}
		if m.pool.providers(key) && allHold(about(key, asked), candidate{absent: true}) {
			// Nobody has to say anything about a label of the provider's. Then each
			// daemon that may run there counts.
			for _, p := range choices {
				next = append(next, p.leaving(key, opening{rule: some, known: about(key, m.pool.asks)}))
			}
		}
		if choices = next; len(choices) > maxChoices {
			p := m.place
			p.open = m.certain(asked)
			return []*place{&p}
		}
	}
	return choices
}

// daemonQuestions are the conditions that daemons put on labels which are open on the
// machine, by label.
func (w *world) daemonQuestions(m *machine) map[string][]expression {
	questions := make(map[string][]expression)
	for _, d := range w.daemons {
		for _, t := range d.wants {
			for _, e := range t.exprs {
				key := requirements.NormalizeKey(e.key)
				if _, fixed := m.value(key); !fixed && (m.pool.chooses(key) || m.pool.providers(key)) {
					questions[key] = append(questions[key], e)
				}
			}
		}
	}
	return questions
}

// with returns the place with a label filled in.
func (p *place) with(key string, c candidate) *place {
	filled := *p
	if !c.absent {
		filled.labels = maps.Clone(p.labels)
		filled.labels[key] = c.value
	}
	return &filled
}

// leaving returns the place with one more open label.
func (p *place) leaving(key string, o opening) *place {
	filled, before := *p, p.open
	filled.open = func(k string) opening {
		if k == key {
			return o
		}
		return before(k)
	}
	return &filled
}
