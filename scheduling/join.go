package scheduling

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fits is how many pods of a class the free room of some bins could hold.
func (b *unitBook) fits(class int, bins model.Bits) int64 {
	c := b.land.planned[class]
	sum := int64(0)
	bins.Each(func(i int) {
		bin := &b.land.model.Bins[i]
		if bin.Admits.Has(c.group) {
			sum += timesIn(bin.Room, c.requests)
		}
	})
	return sum
}

// timesIn is how often a request fits a room.
func timesIn(room, request []int64) int64 {
	n := int64(1) << 32
	for d, q := range request {
		if q > 0 {
			n = min(n, room[d]/q)
		}
	}
	return max(n, 0)
}

// attach spreads n pods of a class evenly over the units of their leaders, as far as
// some machine could hold them together, and returns how many are left.
func (b *unitBook) attach(class int, n int64, leaders []int) int64 {
	for n > 0 {
		var open []int
		total := int64(0)
		for i := range b.units {
			u := &b.units[i]
			if u.count > 0 && b.leads(u, leaders) && b.holdsMore(u, class, 1) {
				open = append(open, i)
				total += u.count
			}
		}
		if total == 0 {
			return n
		}
		b.spread = b.spread || total > 1
		if b.piled {
			n -= b.joinNew(b.split(b.roomiest(open, class, n)), class, n, 1)
			continue
		}
		each, more := n/total, n%total
		for _, i := range open {
			u := b.units[i]
			some := min(more, u.count)
			more -= some
			n -= b.join(i, class, each, u.count-some) + b.joinNew(u, class, each+1, some)
		}
	}
	return 0
}

// roomiest is the unit of some that could take along the most of n pods of a class.
func (b *unitBook) roomiest(open []int, class int, n int64) int {
	best, most := open[0], int64(0)
	for _, i := range open {
		if took := b.most(&b.units[i], class, n); took > most {
			best, most = i, took
		}
	}
	return best
}

// split takes one of unit i out of it.
func (b *unitBook) split(i int) unit {
	u := b.units[i]
	b.units[i].count--
	u.count = 1
	return u
}

// leads reports whether a unit holds a pod of one of the classes.
func (b *unitBook) leads(u *unit, leaders []int) bool {
	return slices.ContainsFunc(u.portions, func(s portion) bool { return slices.Contains(leaders, s.class) })
}

// join makes count units of unit i hold up to each pods of a class more, and returns
// how many pods found a place. Further units of i are left to joinNew.
func (b *unitBook) join(i, class int, each, count int64) int64 {
	u := &b.units[i]
	u.count = count
	each = b.most(u, class, each)
	if each == 0 || count == 0 {
		return 0
	}
	b.add(u, portion{class, each})
	return each * count
}

// joinNew is join for a unit that is split off.
func (b *unitBook) joinNew(u unit, class int, each, count int64) int64 {
	if count == 0 {
		return 0
	}
	u.count = count
	each = b.most(&u, class, each)
	if each > 0 {
		b.add(&u, portion{class, each})
	}
	b.units = append(b.units, u)
	return each * count
}

// add puts pods into a unit; where that could go to some bins only, so do they.
func (b *unitBook) add(u *unit, p portion) {
	u.portions = added(u.portions, p)
	if u.kin >= 0 {
		u.kin = b.kin(b.members(u.portions), b.list[u.kin].hosts)
	}
}

func added(shares []portion, s portion) []portion {
	out := slices.Clone(shares)
	for i := range out {
		if out[i].class == s.class {
			out[i].n += s.n
			return out
		}
	}
	return append(out, s)
}

// most is the largest number of pods of a class, up to n, that could join a unit.
func (b *unitBook) most(u *unit, class int, n int64) int64 {
	low, high := int64(0), n
	for low < high {
		mid := (low + high + 1) / 2
		if b.holdsMore(u, class, mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// holdsMore reports whether some machine, on sale or running, could hold a unit with n
// pods of a class more.
func (b *unitBook) holdsMore(u *unit, class int, n int64) bool {
	shares := added(u.portions, portion{class, n})
	if b.clash(shares) || b.atOdds(shares) {
		return false
	}
	request := b.request(shares)
	k := &kin{members: b.members(shares)}
	l := b.land
	var hosts model.Bits
	if u.kin >= 0 {
		hosts = b.list[u.kin].hosts
	}
	for ti := range l.templates {
		if hosts != nil {
			break
		}
		if l.choiceAmong(ti, func(_ int, o templateOffer) bool {
			return model.Fits(l.compiler.rooms.rooms[o.room], request) && k.admits(l.columns.rows[o.column])
		}) {
			return true
		}
	}
	for i := range l.model.Bins {
		if (hosts == nil || hosts.Has(i)) && model.Fits(l.model.Bins[i].Room, request) && k.admits(l.model.Bins[i].Admits) {
			return true
		}
	}
	return false
}

// clash reports whether pods of a unit bind the same ports.
func (b *unitBook) clash(shares []portion) bool {
	for i, s := range shares {
		ports := b.land.classes.groups[b.land.planned[s.class].group].ports
		if len(ports) == 0 {
			continue
		}
		if s.n > 1 {
			return true
		}
		for _, o := range shares[i+1:] {
			if portsClash(ports, b.land.classes.groups[b.land.planned[o.class].group].ports) {
				return true
			}
		}
	}
	return false
}

// atOdds reports whether pods of a unit keep each other off their machine.
func (b *unitBook) atOdds(portions []portion) bool {
	for _, p := range portions {
		for _, t := range b.land.bonds.list[b.land.planned[p.class].bonds].ties {
			if t.weight > 0 || t.kind == affinityTie || t.kind == spreadTie && !t.perHost() {
				continue
			}
			most, n := t.maxSkew, int64(0)
			if t.kind == antiTie && b.among(p.class, t.target) {
				most = 1
			}
			for _, q := range portions {
				if b.among(q.class, t.target) {
					n += q.n
				}
			}
			if n > most {
				return true
			}
		}
	}
	return false
}
