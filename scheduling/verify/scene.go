package verify

import "fmt"

// scene is a crowd that more pods join, with what their rules count. Pods come and never go.
type scene struct {
	crowd *crowd
	// tallies count pods for rules, keepers count those that keep others away by their
	// anti-affinity; known finds both by what they say.
	tallies, keepers []*tally
	known            map[string]*tally
	// countedBy and keptBy remember for a face which tallies count it, and which
	// keepers keep it away.
	countedBy, keptBy map[*face][]*tally
	parties           map[string]*party
}

// party is pods that every rule treats alike.
type party struct {
	face   *face
	ties   *ties
	spread []*tally // by spread rule
	near   []*tally // by affinity term
	apart  []*tally // by anti-affinity term
	keeps  []*tally // the keepers, by anti-affinity term
}

func newScene(c *crowd) *scene {
	return &scene{
		crowd: c, known: make(map[string]*tally), parties: make(map[string]*party),
		countedBy: make(map[*face][]*tally), keptBy: make(map[*face][]*tally),
	}
}

// partyOf sets up what the rules of such pods count. All parties have to be known
// before anybody sits down.
func (s *scene) partyOf(f *face, t *ties) *party {
	key := fmt.Sprintf("%p %s", f, t.text)
	if p := s.parties[key]; p != nil {
		return p
	}
	p := &party{face: f, ties: t, keeps: s.keep(t.apart)}
	for i := range t.spread {
		p.spread = append(p.spread, s.spread(&t.spread[i]))
	}
	var near []*podSet
	for _, n := range t.near {
		near = append(near, n.pods)
	}
	for _, n := range t.near {
		// A pod that meets one term only is no company.
		x := s.count(n.key, near...)
		x.wanted = true
		p.near = append(p.near, x)
	}
	for _, n := range t.apart {
		p.apart = append(p.apart, s.count(n.key, n.pods))
	}
	for _, n := range s.crowd.against(f) {
		s.keeper(n.podTerm)
	}
	s.parties[key] = p
	return p
}

// count sets up a tally of pods that belong to every one of the sets.
func (s *scene) count(key string, sets ...*podSet) *tally {
	texts := make([]string, len(sets))
	for i, set := range sets {
		texts[i] = set.text
	}
	text := fmt.Sprintf("count %q %q", key, texts)
	if s.known[text] == nil {
		s.tallies = append(s.tallies, s.learn(text, &tally{key: key, sets: sets, counts: make(map[string]int)}, s.crowd.members(sets)))
	}
	return s.known[text]
}

// learn keeps a new tally, with the pods that sit already.
func (s *scene) learn(text string, t *tally, there []*flock) *tally {
	t.settle(s.crowd, there)
	s.known[text] = t
	return t
}

// spread sets up a tally for a spread constraint.
func (s *scene) spread(r *spreadRule) *tally {
	text := fmt.Sprintf("spread %q %q %s", r.key, r.pods.text, r.nodes.text)
	if s.known[text] == nil {
		t := spreadTally(r, s.crowd.view(r))
		s.tallies = append(s.tallies, s.learn(text, t, s.crowd.members(t.sets)))
	}
	s.known[text].skew = min(s.known[text].skew, r.maxSkew)
	return s.known[text]
}

// keep sets up the keepers for terms of anti-affinity.
func (s *scene) keep(terms []podTerm) []*tally {
	var keepers []*tally
	for _, n := range terms {
		keepers = append(keepers, s.keeper(n))
	}
	return keepers
}

func (s *scene) keeper(n podTerm) *tally {
	term := n.text()
	text := "keep " + term
	if s.known[text] == nil {
		var there []*flock
		if held := s.crowd.taken[term]; held != nil {
			there = held.flocks
		}
		s.keepers = append(s.keepers, s.learn(text, &tally{key: n.key, sets: []*podSet{n.pods}, counts: make(map[string]int)}, there))
	}
	return s.known[text]
}

// sit puts a pod onto a host for good.
func (s *scene) sit(f *face, keeps []*tally, h *host) {
	for _, t := range s.counters(f) {
		t.add(h, 1)
	}
	for _, k := range keeps {
		k.add(h, 1)
	}
}

// counters are the tallies that count such pods, shunners the keepers of the pods that
// do not want them near.
func (s *scene) counters(f *face) []*tally { return meaning(f, s.tallies, s.countedBy) }
func (s *scene) shunners(f *face) []*tally { return meaning(f, s.keepers, s.keptBy) }

// meaning returns the tallies whose sets such pods belong to.
func meaning(f *face, tallies []*tally, known map[*face][]*tally) []*tally {
	list, ok := known[f]
	if !ok {
		for _, t := range tallies {
			if t.means(f) {
				list = append(list, t)
			}
		}
		known[f] = list
	}
	return list
}
