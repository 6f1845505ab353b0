package pack

// draft is the best of several constructions.
type draft struct {
	best   *attempt
	values []float64 // by which it was made
	way    Milestones
	near   bool  // see begin
	least  int64 // work that is done in any case
	ended  bool  // there is nothing to improve, or a rival is far ahead
}

// draft constructs an answer.
func (s *search) draft() draft {
	p, params := s.p, s.params
	values := params.Worths
	if values == nil {
		values = s.fill.shareValues()
	} else {
		s.fill.pace.on = false
	}
	if len(p.Classes) == 0 {
		return draft{best: s.try(values, false), ended: true}
	}
	best, near := s.begin(values)
	best, near = s.loosely(best, near, values)
	d := draft{near: near, way: Milestones{First: best.cost}}
	if behind(d.way.First, params.Rival.First, dearFirst) {
		d.best, d.ended = best, true
		return d
	}
	d.least = leastTimes * s.fill.work
	s.budget = max(params.Work/3, min(d.least, leastTries))
	if s.scarce(best, values) {
		best = s.share(best, values)
	}
	s.start = s.fill.work
	bestValues := values
	if !near {
		best, bestValues = s.attempts(best, values)
	}
	if best.cost > 0 && s.fill.pace.idle && (!near || params.Work > 0) {
		best = s.tryKeeping(best, values)
	}
	if !near && s.columnsPay(best) {
		best = s.tryInColumns(best, values)
	}
	d.best, d.values, d.way.Best = best, bestValues, best.cost
	d.ended = behind(d.way.Best, params.Rival.Best, dearBest)
	return d
}

// finish improves what was constructed.
func (s *search) finish(d draft) *attempt {
	p, params, best, bestValues := s.p, s.params, d.best, d.values
	if d.ended {
		return best
	}
	s.budget = max(params.Work-params.Work/3, params.Work-(s.fill.work-s.start), min(d.least, leastMost))
	if params.Work > 0 || s.fill.pace.idle {
		s.start = s.fill.work
	}
	if s.limited() {
		s.exchange(best)
	}
	if s.content(best) && !s.limited() {
		return best
	}
	if best.cost > 0 && !s.over() {
		s.remember(best)
		s.improve(best, bestValues, 0)
		if params.Work > 0 && s.fill.pace.idle && !s.limited() {
			best = s.improveOthers(best, bestValues)
		}
	}
	if (len(p.Bins) > 0 && best.cost > 0 || s.scarce(best, bestValues)) && !s.over() {
		s.improveBins(best, bestValues)
	}
	if s.limited() {
		best = s.reconsider(best, bestValues)
	}
	s.cheap = s.fill.pace.idle && !s.limited() && d.least <= params.Work/cheapShare
	return best
}

// complete ends a search that has made a draft.
func (s *search) complete(d draft) Outcome {
	best := s.finish(d)
	if !d.ended {
		s.refleets(best, d.values)
	}
	work := s.fill.work
	if s.cheap && !s.late {
		// More work goes other ways, which need not end where the least work does.
		least := newSearch(s.p, Params{Late: s.params.Late, Snug: s.params.Snug})
		other := least.draft()
		a := least.finish(other)
		least.refleets(a, other.values)
		if a.better(best) {
			best = a
		}
		work += least.fill.work
		s.late = least.late
	}
	s.joinPasses(best, d.values)
	out := s.outcome(best, d.way, nil)
	out.Work = work
	return out
}

// Rest is what remains to be done of a search that ended with a draft.
type Rest struct {
	search *search
	draft  draft
	widen  []func(Outcome) Outcome // in turn, see within
}

// Search goes on as if there had been no end, and returns what comes out. It may be called
// once.
func (r *Rest) Search() Outcome {
	out := r.search.complete(r.draft)
	for _, widen := range r.widen {
		out = widen(out)
	}
	return out
}

// within is an outcome for a part of a problem in terms of the whole, as will be what comes
// of going on.
func (x Outcome) within(widen func(Outcome) Outcome) Outcome {
	if x.Rest != nil {
		x.Rest.widen = append(x.Rest.widen, widen)
	}
	return widen(x)
}
