package offers_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// compiled is a random problem with selectors, affinity, taints, open labels and volumes, in numbers.
func compiled(t *testing.T, seed uint64, policy scheduling.Policy) *instance.Instance {
	t.Helper()
	p := st.Random(seed, st.Size{Pods: 20, Types: 6, Pools: 3, Nodes: 2, TopologyTerms: true})
	facts, err := instance.NewFacts(&p, &policy)
	require.NoError(t, err, "seed %d", seed)
	return facts.Compile(false)
}

// labelsOf returns the labels of the node that a template launches from an offer, open labels that pods ask about among
// them.
func labelsOf(c *instance.Instance, v *offers.Template, offer int) map[string]string {
	out := map[string]string{}
	maps.Copy(out, offers.Ready())
	maps.Copy(out, v.Labels)
	for _, g := range c.Classes.Groups {
		exprs := slices.Clone(g.Selector)
		for _, term := range g.Terms {
			exprs = append(exprs, term.Labels...)
		}
		for _, e := range exprs {
			if value, ok := c.Offers.LabelOf(v, offer, e.Key()); ok {
				out[e.Key()], out[e.Raw] = value, value
			}
		}
	}
	return out
}

// TestAdmittedAsOnTheNode: an offer of a template admits a group of pods where the node that comes of it would, read as an
// existing node. So pods are never launched for and then refused there, nor refused a node that would admit them.
func TestAdmittedAsOnTheNode(t *testing.T) {
	admitted, refused := 0, 0
	for seed := range soak.Cases(40) {
		c := compiled(t, seed, scheduling.Policy{})
		for _, v := range c.Templates {
			for g, group := range c.Classes.Groups {
				row := c.Offers.AdmitsOwn(v, group, false)
				v.Within.Each(func(o int) {
					want := group.FitOn("", labelsOf(c, v, o), nil).Affinity
					require.Equal(t, want, row.Has(o), "seed %d: pool %s, offer %s, group %d", seed, v.Pool.Name, c.Offers.Offers[o].InstanceType.Name, g)
					if want {
						admitted++
					} else {
						refused++
					}
				})
			}
		}
	}
	assert.Greater(t, min(admitted, refused), 300)
}

// TestTemplatesKeepTheNodePool: each node of a template meets all requirements of its NodePool whose label is known, and has
// the labels that the NodePool sets. NodePools come by weight, without those that launch nothing.
func TestTemplatesKeepTheNodePool(t *testing.T) {
	for seed := range soak.Cases(40) {
		c := compiled(t, seed, scheduling.Policy{})
		require.True(t, slices.IsSortedFunc(c.Pools, func(a, b *scheduling.NodePool) int { return int(b.Weight() - a.Weight()) }))
		for _, v := range c.Templates {
			require.Nil(t, v.Pool.Spec.Replicas)
			for key, value := range offers.PoolLabels(v.Pool) {
				require.Equal(t, value, v.Labels[key])
			}
			v.Within.Each(func(o int) {
				for r := range offers.PoolSet(v.Pool).All() {
					if value, ok := c.Offers.LabelOf(v, o, r.Key()); ok {
						require.True(t, r.Has(value), "seed %d: pool %s requires %s, the node has %q", seed, v.Pool.Name, r, value)
					}
				}
			})
		}
	}
}

// TestOffersAreRanked: offers of one catalog come in the order of the policy's ranking, and with an order by cost no offer
// precedes one of a lower cost. An offer that the policy excludes is not launchable, and the reason says why.
func TestOffersAreRanked(t *testing.T) {
	for seed := range soak.Cases(30) {
		for _, policy := range []scheduling.Policy{
			{}, {NoSpot: true}, {FewestNodes: true}, {Ranking: offerings.Ranking{Strategy: offerings.CapacityOptimized}},
		} {
			c := compiled(t, seed, policy)
			table := c.Offers
			for i := range table.Offers {
				o := &table.Offers[i]
				excluded := offers.Exclusions(&policy, o.InstanceType, o.Offering)
				require.Equal(t, len(excluded) == 0, offers.Allows(policy, o.InstanceType, *o.Offering))
				require.False(t, o.Launchable && len(excluded) > 0, "seed %d", seed)
				require.Equal(t, policy.NoSpot && o.Spot(), slices.ContainsFunc(excluded, func(x offers.Exclusion) bool {
					return offers.Reason(&policy, x).Code == scheduling.ReasonNoSpot
				}))
				if i > 0 && offers.ByCost(&policy) && sameCatalog(table, i-1, i) {
					require.LessOrEqual(t, table.Offers[i-1].Cost, o.Cost, "seed %d", seed)
				}
			}
		}
	}
}

// sameCatalog reports whether two offers are of one catalog.
func sameCatalog(t *offers.OfferTable, a, b int) bool {
	for _, span := range t.Spans {
		if a >= span[0] && b < span[1] {
			return true
		}
	}
	return false
}

// TestVolumesNarrowOffers: volumes are a further condition on the labels of the node, each by one of its terms.
func TestVolumesNarrowOffers(t *testing.T) {
	for seed := range soak.Cases(40) {
		c := compiled(t, seed, scheduling.Policy{})
		for _, v := range c.Templates {
			for _, group := range c.Classes.Groups {
				own, all := c.Offers.AdmitsOwn(v, group, false), c.Offers.Admits(v, group, false)
				v.Within.Each(func(o int) {
					want := own.Has(o)
					for _, terms := range group.Volumes {
						want = want && slices.ContainsFunc(terms, func(x podspec.Term) bool {
							row := c.Offers.Matching(v, &x)
							return row != nil && row.Has(o)
						})
					}
					require.Equal(t, want, all.Has(o), "seed %d", seed)
				})
			}
		}
	}
}
