package mix

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Mix is a random problem.
type Mix struct {
	scheduling.Problem
	Seed             uint64
	Classes          int
	Market           string
	HasTopologyTerms bool // whether some pods care where others are
}

// Random returns a function from seeds to problems: 200 to 5,000 pods of 3 to 1,000 classes, and one to three
// NodePools of a market that sell on demand, spot or both. In every third mix pods have spread constraints or affinity.
func Random() func(seed uint64) Mix {
	catalogs := []*instancetypes.Catalog{
		ec2.MustCatalog("us-east-1"), ec2.MustCatalog("eu-west-1"), ec2.MustCatalog("ap-northeast-1"), azure.MustCatalog("eastus"),
	}
	return func(seed uint64) Mix { return draw(seed, catalogs) }
}

func draw(seed uint64, catalogs []*instancetypes.Catalog) Mix {
	r := rand.New(rand.NewPCG(seed, 0))
	// span draws evenly on a logarithmic scale.
	span := func(from, to float64) float64 { return from * math.Pow(to/from, r.Float64()) }
	catalog := catalogs[r.IntN(len(catalogs))]
	m := Mix{Seed: seed, Market: catalog.Name(), HasTopologyTerms: seed%3 == 0}
	m.Catalog = catalog
	capacity := [][]string{{string(offerings.OnDemand)}, {string(offerings.Spot)}, {string(offerings.OnDemand), string(offerings.Spot)}}[r.IntN(3)]
	m.Market += " " + lo.Ternary(len(capacity) == 1, capacity[0], "both")
	arches := []string{"amd64", "arm64"}
	for i := range 1 + r.IntN(3) {
		where := []requirements.Selector{st.In(offerings.CapacityTypeLabel, capacity...)}
		if i > 0 || r.IntN(2) == 0 {
			where = append(where, st.In(corev1.LabelArchStable, arches[i%2]))
		}
		m.NodePools = append(m.NodePools, st.NodePool(fmt.Sprintf("pool-%d", i), st.Where(where...)))
	}
	pods := int(span(200, 5000))
	m.Classes = min(int(span(3, 1000)), pods)
	// The requests of classes have a median and a spread that each mix draws, and so have the
	// numbers of pods per class.
	cpu, cpuSpread := span(150, 1500), 0.3+r.Float64()
	ratio, ratioSpread := span(1, 8), r.Float64()
	shares := make([]float64, m.Classes)
	for i := range shares {
		shares[i] = math.Exp(1.5 * r.Float64() * r.NormFloat64())
	}
	total := lo.Sum(shares)
	for i, share := range shares {
		name := fmt.Sprintf("class-%04d", i)
		milli := min(max(cpu*math.Exp(cpuSpread*r.NormFloat64()), 10), 16000)
		mebi := min(max(milli/1000*ratio*1024*math.Exp(ratioSpread*r.NormFloat64()), 16), 128<<10)
		of := []st.PodOption{st.Label("app", name), st.Requests(st.MilliCPU(int64(math.Ceil(milli/10)*10)), st.MiB(int64(math.Ceil(mebi/8)*8)))}
		if len(m.NodePools) > 1 && r.IntN(6) == 0 {
			of = append(of, st.Select(corev1.LabelArchStable, arches[1]))
		}
		count := 1 + int(share/total*float64(pods-m.Classes))
		if m.HasTopologyTerms && r.IntN(3) == 0 {
			terms := []st.PodOption{
				st.Spread(corev1.LabelTopologyZone, st.Skew(1+r.Int32N(3))), st.Spread(corev1.LabelTopologyZone, st.Soft()),
				st.Spread(corev1.LabelHostname, st.Skew(1+r.Int32N(4))), st.Apart(corev1.LabelHostname), st.Near(corev1.LabelTopologyZone),
			}
			of = append(of, terms[r.IntN(len(terms))])
		}
		m.Pods = append(m.Pods, st.Pods(count, name, of...)...)
	}
	return m
}
