package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Pods that keep others of their crowd off a machine make for many machines, whatever room those
// have. A fleet in place of others has as many that could hold them, and pods are exchanged only
// where none comes to a machine that has its share of the crowd.

// exchangeable reports whether the pods on a machine may be exchanged with those of others:
// who shares a machine hangs on nothing but how many of a class and of a crowd are there, and
// all of the crowd keep to that.
func (s *search) exchangeable(node *model.Node) bool {
	option := &s.p.Options[node.Option]
	return option.Supply == model.NoSupply && option.Floor < 0 && !slices.ContainsFunc(node.Items, func(it model.Item) bool {
		class := &s.p.Classes[it.Class]
		return len(class.Conflicts) > 0 || slices.ContainsFunc(class.Crowds, func(m model.Membership) bool { return !m.Holds })
	})
}

// countCrowds notes how much of each crowd is on each machine.
func (x *squeeze) countCrowds(classes []model.ClassID) {
	if !slices.ContainsFunc(classes, func(c model.ClassID) bool { return len(x.p.Classes[c].Crowds) > 0 }) {
		return
	}
	x.crowd = make([]int64, len(x.nodes)*len(x.p.Crowds))
	for i := range x.nodes {
		for _, it := range x.nodes[i].Items {
			x.join(i, it.Class, it.N)
		}
	}
}

// join counts pods of a class on a machine towards their crowds.
func (x *squeeze) join(i int, c model.ClassID, n int64) {
	for _, m := range x.p.Classes[c].Crowds {
		x.crowd[i*len(x.p.Crowds)+int(m.Crowd)] += m.Weight * n
	}
}

// welcome reports whether a pod of a class may join those of a machine in place of one of
// another class, -1 for none, room aside.
func (x *squeeze) welcome(i int, c, out model.ClassID) bool {
	class := &x.p.Classes[c]
	if class.PerNode > 0 && out != c {
		for _, it := range x.nodes[i].Items {
			if it.Class == c && it.N >= class.PerNode {
				return false
			}
		}
	}
	for _, m := range class.Crowds {
		n := x.crowd[i*len(x.p.Crowds)+int(m.Crowd)] + m.Weight
		if out >= 0 {
			n -= weightIn(&x.p.Classes[out], m.Crowd)
		}
		if n > x.p.Crowds[m.Crowd].Max {
			return false
		}
	}
	return true
}

// weightIn is how much a pod of a class counts towards a crowd.
func weightIn(class *model.Class, crowd int32) int64 {
	m, _ := class.Membership(crowd)
	return m.Weight
}

// needPlaces asks for places for pods of which a machine holds only so many: of each crowd or
// class, for all of them and for those that the same rows let in.
func (x *refleet) needPlaces() {
	var found []need
	ask := func(classes []model.ClassID, most int64, weigh func(*model.Class) int64) {
		all := int64(0)
		for _, c := range classes {
			all += weigh(&x.p.Classes[c]) * x.total[c]
		}
		if most <= 0 || all <= most {
			return // one machine has places for all
		}
		y := make(need, len(x.m.options))
		for _, at := range x.places {
			for _, c := range classes {
				class := &x.p.Classes[c]
				if x.m.rows[x.m.row[at]].Has(int(class.Group)) && model.Fits(x.p.Options[x.m.options[at]].Room, class.Request) {
					y[at] = float64(most) / float64(all)
					break
				}
			}
		}
		found = append(found, y)
	}
	inCrowd := make([][]model.ClassID, len(x.p.Crowds))
	for _, c := range x.classes {
		class := &x.p.Classes[c]
		if class.PerNode > 0 {
			ask([]model.ClassID{c}, class.PerNode, func(*model.Class) int64 { return 1 })
		}
		for _, m := range class.Crowds {
			if m.Weight > 0 {
				inCrowd[m.Crowd] = append(inCrowd[m.Crowd], c)
			}
		}
	}
	for k, classes := range inCrowd {
		weigh := func(class *model.Class) int64 { return weightIn(class, int32(k)) }
		ask(classes, x.p.Crowds[k].Max, weigh)
		var groups []int32
		for _, c := range classes {
			if g := x.p.Classes[c].Group; !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
		for _, g := range groups {
			if len(groups) > 1 {
				some := slices.DeleteFunc(slices.Clone(classes), func(c model.ClassID) bool { return x.p.Classes[c].Group != g })
				ask(some, x.p.Crowds[k].Max, weigh)
			}
		}
	}
	x.fill.work += int64(len(found) * len(x.m.options))
	for i, y := range found {
		if !slices.ContainsFunc(found[:i], func(z need) bool { return z.implies(y) }) &&
			!slices.ContainsFunc(found[i+1:], func(z need) bool { return z.implies(y) && !y.implies(z) }) {
			x.needs = append(x.needs, y)
		}
	}
}

// implies reports whether machines that have what is needed have another need, too.
func (y need) implies(z need) bool {
	for at, share := range y {
		if share > z[at] {
			return false
		}
	}
	return true
}
