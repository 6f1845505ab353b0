package explain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ruledOut are the offers of a template's catalog that the NodePool would have if its requirements
// were wider. Offers that the pool's own labels rule out are not among them.
type ruledOut struct {
	keys   []string     // of the requirements
	met    []model.Bits // by requirement, the offers that meet it
	offers model.Bits
	byOne  model.Bits // of these offers the ones that a single requirement rules out
}

// ruledOut returns the offers that the requirements of a template's NodePool rule out.
func (s *PlanState) ruledOut(ti int) *ruledOut {
	if s.outside == nil {
		s.outside = make([]*ruledOut, len(s.in.Templates))
	}
	if s.outside[ti] == nil {
		s.outside[ti] = s.findRuledOut(s.in.Templates[ti])
	}
	return s.outside[ti]
}

func (s *PlanState) findRuledOut(v *offers.Template) *ruledOut {
	n := len(s.in.Offers.Offers)
	x, own := &ruledOut{offers: model.NewBits(n), byOne: model.NewBits(n)}, offers.PoolLabels(v.Pool)
	out := s.all(v)
	out.AndNot(v.Within)
	for r := range v.Set.All() {
		row := s.in.Offers.Satisfying(v, &podspec.Expression{Raw: r.Key(), Requirement: r})
		if _, labelled := own[r.Key()]; labelled {
			out.And(row)
		} else if s.in.Offers.Defines(r.Key(), v.Catalog) {
			x.keys, x.met = append(x.keys, r.Key()), append(x.met, row)
		}
	}
	out.Each(func(o int) {
		unmet := 0
		for i, key := range x.keys {
			if x.met[i].Has(o) {
				continue
			}
			if _, has := s.in.Offers.LabelOf(v, o, key); !has {
				return
			}
			unmet++
		}
		x.offers.Set(o)
		if unmet == 1 {
			x.byOne.Set(o)
		}
	})
	return x
}

// all are the offers of a template's catalog.
func (s *PlanState) all(v *offers.Template) model.Bits {
	out := model.NewBits(len(s.in.Offers.Offers))
	if span, ok := s.in.Offers.Spans[v.Catalog]; ok {
		for o := span[0]; o < span[1]; o++ {
			out.Set(o)
		}
	}
	return out
}

// widening proposes a wider requirement of a NodePool, so that it can launch a place that the requirement rules out.
func widening(s *subject, p place, key string) scheduling.Change {
	pool, value := s.in.Templates[p.template].Pool.Name, s.labelAt(p, key)
	return scheduling.Change{
		Kind: scheduling.ChangeNodePool, Object: "NodePool/" + pool, Key: key, Values: []string{value},
		Text: fmt.Sprintf("let node pool %s buy %s=%s, such as %s", pool, key, value, s.in.Offers.Offers[p.at].InstanceType.Name),
	}
}

// widen notes an offer that a single requirement of its NodePool rules out: for each label the cheapest offer.
func (n *nearest) widen(p place, x obstacle) {
	key := n.subject.state.ruledOut(p.template).keys[x.n]
	if have, ok := n.wider[key]; !ok || n.in.Offers.Offers[p.at].Cost < n.in.Offers.Offers[have.at].Cost {
		n.wider[key] = p
	}
}

// widenings propose wider requirements of NodePools, one requirement each.
func (n *nearest) widenings() (out []scheduling.Change) {
	for _, key := range slices.Sorted(maps.Keys(n.wider)) {
		out = append(out, widening(n.subject, n.wider[key], key))
	}
	return out
}
