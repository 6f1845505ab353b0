package disruption

// slabs takes a part off a step of very many nodes: as many as budgets allow, in the order
// in which they save most for what they disrupt, as long as the part and what is left both
// save something. What would be the best part is not looked for.
func (p *peeling) slabs() (some, rest *Step) {
	for most := len(p.leavers) - 1; most > 0; most /= 2 {
		x := p.slab(most)
		if len(x.leavers) == 0 {
			return nil, nil
		}
		most = len(x.leavers)
		if x.saving <= 0 {
			continue
		}
		if some, rest = p.cut(x); rest.SavingPerHour > 0 && p.sound(some, rest) {
			return some, rest
		}
	}
	return nil, nil
}

// slab is a part of so many nodes at most. Its pods go where nothing is bought first, and
// then onto the launches that they fill most for their price.
func (p *peeling) slab(most int) *part {
	x := &part{bought: map[string]bool{}, taken: map[string]map[string]int{}, to: map[string]string{}}
	open := p.open(x)
	count := map[*poolState]int{}
	for _, l := range p.leavers {
		if len(x.leavers) >= most {
			break
		}
		if l.pool != nil {
			if count[l.pool] >= p.frame.room(l.pool, Underutilized) {
				continue
			}
			count[l.pool]++
		}
		x.leavers = append(x.leavers, l)
		x.saving, x.cost = clampPrice(x.saving, l.price), x.cost+l.cost
		for _, name := range p.house(x, l, open) {
			x.saving = clampPrice(x.saving, -p.frame.costOf(p.new[name]))
		}
	}
	return x
}

// seat gives pods of a kind that wait the first of its open places, and returns those that
// are open still.
func (p *peeling) seat(x *part, kind string, waiting map[string][]string, open []string) []string {
	list, taken := waiting[kind], x.taken[kind]
	for len(list) > 0 && len(open) > 0 {
		node := open[0]
		n := min(len(list), p.places[kind][node]-taken[node])
		for _, pod := range list[:n] {
			x.to[pod] = node
		}
		taken[node] += n
		if list = list[n:]; taken[node] == p.places[kind][node] {
			open = open[1:]
		}
	}
	waiting[kind] = list
	return open
}
