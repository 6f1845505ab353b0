package expanders

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Cluster is pending pods of microservices and a number of node groups, each of one EC2 type on demand: of 8 to 64 cores,
// of the compute, general-purpose and memory categories, for amd64 and arm64. Two pods of three need amd64. The first
// group has 128 GiB and amd64, so that each pod fits somewhere.
func Cluster(groups, pods int, seed uint64) (scheduling.Problem, error) {
	catalog, err := ec2.Catalog("us-east-1")
	if err != nil {
		return scheduling.Problem{}, err
	}
	dice := rand.New(rand.NewPCG(seed, 0xE8))
	types := suitable(catalog)
	dice.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	large := slices.IndexFunc(types, func(t *instancetypes.InstanceType) bool {
		return t.Capacity.Memory().Value() >= 120<<30 && t.Labels[corev1.LabelArchStable] == "amd64"
	})
	types[0], types[large] = types[large], types[0]
	p := scheduling.Problem{Pods: corpus.Services(pods, seed)}
	var names []string
	for i, t := range types[:groups] {
		names = append(names, t.Name)
		p.NodePools = append(p.NodePools, schedulingtest.NodePool(fmt.Sprintf("group-%02d", i), schedulingtest.Where(
			schedulingtest.In(corev1.LabelInstanceTypeStable, t.Name), schedulingtest.In(offerings.CapacityTypeLabel, string(offerings.OnDemand)),
			schedulingtest.In(corev1.LabelArchStable, "amd64", "arm64"))))
	}
	p.Catalog = catalog.Filter(instancetypes.ByName(names...))
	for _, pod := range p.Pods {
		// By the label of the workload, so that the pods of one have the same selector.
		if app := pod.Labels["app"]; app[len(app)-1]%3 > 0 {
			pod.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
		}
	}
	return p, nil
}

// suitable are the types that groups are drawn from.
func suitable(catalog *instancetypes.Catalog) (types []*instancetypes.InstanceType) {
	for t := range catalog.All() {
		cores := t.Capacity.Cpu().Value()
		sold := slices.ContainsFunc(t.Offerings, func(o offerings.Offering) bool { return o.CapacityType == offerings.OnDemand && o.Launchable() })
		if sold && cores >= 8 && cores <= 64 && slices.Contains([]string{"c", "m", "r"}, t.Labels["karpenter.k8s.aws/instance-category"]) {
			types = append(types, t)
		}
	}
	return types
}
