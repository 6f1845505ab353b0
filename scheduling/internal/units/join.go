package units

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// fits is the number of pods of a class that the free room of bins can hold, each bin for itself.
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

// TimesIn is the number of times that a request fits into a room, capped at 2^32.
func TimesIn(room, request []int64) int64 {
	n := int64(1) << 32
	for d, q := range request {
		if q > 0 {
			n = min(n, room[d]/q)
		}
	}
	return max(n, 0)
}

// attach adds n pods of a class to the units with pods of the classes leaders, evenly as far as a node can hold them
// together, and returns the number of pods that are left. With FewUnits it fills one unit after the other instead.
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
		if b.FewUnits {
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

// roomiest is the unit of open that can take the most of n pods of a class.
func (b *UnitBook) roomiest(open []int, class int, n int64) int {
	best, most := open[0], int64(0)
	for _, i := range open {
		if took := b.most(&b.Units[i], class, n); took > most {
			best, most = i, took
		}
	}
	return best
}

// split removes one unit from the count of unit i and returns it.
func (b *UnitBook) split(i int) Unit {
	u := b.Units[i]
	b.Units[i].Count--
	u.Count = 1
	return u
}

// leads reports whether a unit has a pod of one of the classes.
func (b *UnitBook) leads(u *Unit, leaders []int) bool {
	return slices.ContainsFunc(u.Members, func(s instance.Member) bool { return slices.Contains(leaders, s.Class) })
}

// join sets the count of unit i to count, adds up to each pods of a class to each of them, and returns the number of
// added pods. The caller passes the rest of i's count to joinNew.
func (b *UnitBook) join(i, class int, each, count int64) int64 {
	u := &b.Units[i]
	u.Count = count
	each = b.most(u, class, each)
	if each == 0 || count == 0 {
		return 0
	}
	b.add(u, instance.Member{Class: class, N: each})
	return each * count
}

// joinNew is join for a unit that is split off, and appends it.
func (b *UnitBook) joinNew(u Unit, class int, each, count int64) int64 {
	if count == 0 {
		return 0
	}
	u.Count = count
	each = b.most(&u, class, each)
	if each > 0 {
		b.add(&u, instance.Member{Class: class, N: each})
	}
	b.Units = append(b.Units, u)
	return each * count
}

// add adds pods to a unit. A unit that is restricted to some bins remains so.
func (b *UnitBook) add(u *Unit, p instance.Member) {
	u.Members = added(u.Members, p)
	if u.Signature >= 0 {
		u.Signature = b.Number(b.Members(u.Members), b.List[u.Signature].Hosts)
	}
}

// added is shares with the pods of s, as a new slice.
func added(shares []instance.Member, s instance.Member) []instance.Member {
	out := slices.Clone(shares)
	for i := range out {
		if out[i].Class == s.Class {
			out[i].N += s.N
			return out
		}
	}
	return append(out, s)
}

// most is the largest number of pods of a class, up to n, that can be added to a unit.
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

// holdsMore reports whether an offer or existing node can hold a unit with n more pods of a class.
func (b *UnitBook) holdsMore(u *Unit, class int, n int64) bool {
	shares := added(u.Members, instance.Member{Class: class, N: n})
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

// clash reports whether pods of a unit bind the same host port.
func (b *UnitBook) clash(shares []instance.Member) bool {
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

// atOdds reports whether a unit violates required anti-affinity or a spread per host of its own pods, as on an empty
// node.
func (b *UnitBook) atOdds(portions []instance.Member) bool {
	for _, p := range portions {
		for _, t := range b.Locations.In.TopologyTerms.List[b.Locations.In.Planned[p.Class].TopologyTerms].Terms {
			if t.Weight > 0 || t.Kind == podspec.AffinityTerm || t.Kind == podspec.SpreadTerm && !t.PerHost() {
				continue
			}
			most, n := t.MaxSkew, int64(0)
			if t.Kind == podspec.AntiAffinityTerm && b.Among(p.Class, t.Target) {
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
