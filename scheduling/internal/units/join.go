package units

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// fits is how many pods of a class the free room of some bins could hold.
func (b *UnitBook) fits(class int, bins model.Bits) int64 {
	c := b.Locations.In.Planned[class]
	sum := int64(0)
	bins.Each(func(i int) {
		bin := &b.Locations.In.Bins[i]
		if bin.Admits.Has(c.Group) {
			sum += TimesIn(bin.Room, c.Requests)
		}
	})
	return sum
}

// TimesIn is how often a request fits a room.
func TimesIn(room, request []int64) int64 {
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
func (b *UnitBook) attach(class int, n int64, leaders []int) int64 {
	for n > 0 {
		var open []int
		total := int64(0)
		for i := range b.Units {
			u := &b.Units[i]
			if u.Count > 0 && b.leads(u, leaders) && b.holdsMore(u, class, 1) {
				open = append(open, i)
				total += u.Count
			}
		}
		if total == 0 {
			return n
		}
		b.Spread = b.Spread || total > 1
		if b.Piled {
			n -= b.joinNew(b.split(b.roomiest(open, class, n)), class, n, 1)
			continue
		}
		each, more := n/total, n%total
		for _, i := range open {
			u := b.Units[i]
			some := min(more, u.Count)
			more -= some
			n -= b.join(i, class, each, u.Count-some) + b.joinNew(u, class, each+1, some)
		}
	}
	return 0
}

// roomiest is the unit of some that could take along the most of n pods of a class.
func (b *UnitBook) roomiest(open []int, class int, n int64) int {
	best, most := open[0], int64(0)
	for _, i := range open {
		if took := b.most(&b.Units[i], class, n); took > most {
			best, most = i, took
		}
	}
	return best
}

// split takes one of unit i out of it.
func (b *UnitBook) split(i int) Unit {
	u := b.Units[i]
	b.Units[i].Count--
	u.Count = 1
	return u
}

// leads reports whether a unit holds a pod of one of the classes.
func (b *UnitBook) leads(u *Unit, leaders []int) bool {
	return slices.ContainsFunc(u.Portions, func(s instance.Portion) bool { return slices.Contains(leaders, s.Class) })
}

// join makes count units of unit i hold up to each pods of a class more, and returns
// how many pods found a place. Further units of i are left to joinNew.
func (b *UnitBook) join(i, class int, each, count int64) int64 {
	u := &b.Units[i]
	u.Count = count
	each = b.most(u, class, each)
	if each == 0 || count == 0 {
		return 0
	}
	b.add(u, instance.Portion{Class: class, N: each})
	return each * count
}

// joinNew is join for a unit that is split off.
func (b *UnitBook) joinNew(u Unit, class int, each, count int64) int64 {
	if count == 0 {
		return 0
	}
	u.Count = count
	each = b.most(&u, class, each)
	if each > 0 {
		b.add(&u, instance.Portion{Class: class, N: each})
	}
	b.Units = append(b.Units, u)
	return each * count
}

// add puts pods into a unit; where that could go to some bins only, so do they.
func (b *UnitBook) add(u *Unit, p instance.Portion) {
	u.Portions = added(u.Portions, p)
	if u.Signature >= 0 {
		u.Signature = b.Number(b.Members(u.Portions), b.List[u.Signature].Hosts)
	}
}

func added(shares []instance.Portion, s instance.Portion) []instance.Portion {
	out := slices.Clone(shares)
	for i := range out {
		if out[i].Class == s.Class {
			out[i].N += s.N
			return out
		}
	}
	return append(out, s)
}

// most is the largest number of pods of a class, up to n, that could join a unit.
func (b *UnitBook) most(u *Unit, class int, n int64) int64 {
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
func (b *UnitBook) holdsMore(u *Unit, class int, n int64) bool {
	shares := added(u.Portions, instance.Portion{Class: class, N: n})
	if b.clash(shares) || b.atOdds(shares) {
		return false
	}
	request := b.Request(shares)
	k := &TopologySignature{members: b.Members(shares)}
	l := b.Locations
	var hosts model.Bits
	if u.Signature >= 0 {
		hosts = b.List[u.Signature].Hosts
	}
	for ti := range l.In.Templates {
		if hosts != nil {
			break
		}
		if l.ChoiceAmong(ti, func(_ int, o offers.TemplateOffer) bool {
			return model.Fits(l.In.Rooms.Rooms[o.Room], request) && k.Admits(l.In.Columns.Rows[o.Column])
		}) {
			return true
		}
	}
	for i := range l.In.Bins {
		if (hosts == nil || hosts.Has(i)) && model.Fits(l.In.Bins[i].Room, request) && k.Admits(l.In.Bins[i].Admits) {
			return true
		}
	}
	return false
}

// clash reports whether pods of a unit bind the same ports.
func (b *UnitBook) clash(shares []instance.Portion) bool {
	for i, s := range shares {
		ports := b.Locations.In.Classes.Groups[b.Locations.In.Planned[s.Class].Group].Ports
		if len(ports) == 0 {
			continue
		}
		if s.N > 1 {
			return true
		}
		for _, o := range shares[i+1:] {
			if podspec.PortsClash(ports, b.Locations.In.Classes.Groups[b.Locations.In.Planned[o.Class].Group].Ports) {
				return true
			}
		}
	}
	return false
}

// atOdds reports whether pods of a unit keep each other off their machine.
func (b *UnitBook) atOdds(portions []instance.Portion) bool {
	for _, p := range portions {
		for _, t := range b.Locations.In.TopologyTerms.List[b.Locations.In.Planned[p.Class].TopologyTerms].Ties {
			if t.Weight > 0 || t.Kind == podspec.AffinityTie || t.Kind == podspec.SpreadTie && !t.PerHost() {
				continue
			}
			most, n := t.MaxSkew, int64(0)
			if t.Kind == podspec.AntiTie && b.Among(p.Class, t.Target) {
				most = 1
			}
			for _, q := range portions {
				if b.Among(q.Class, t.Target) {
					n += q.N
				}
			}
			if n > most {
				return true
			}
		}
	}
	return false
}
