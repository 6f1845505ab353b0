package manifest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// smallPlan is a plan of one launch, with the pool that it is for.
func smallPlan() (*scheduling.Plan, []*scheduling.NodePool) {
	three, life := 3, 240*time.Hour
	pool := &scheduling.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general", UID: "0b4c", Annotations: map[string]string{
		"karpenter.sh/nodepool-hash": "4711", "karpenter.sh/nodepool-hash-version": "v3", "kubectl.kubernetes.io/last-applied-configuration": "{}",
	}}}
	pool.Spec.Template.Metadata.Annotations = map[string]string{"note": "x"}
	pool.Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	pool.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{Duration: &life}
	pool.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	return &scheduling.Plan{Launches: []scheduling.Launch{{
		Name: "general-1", NodePool: "general", Price: offerings.MustPrice("0.04"),
		Options: []scheduling.LaunchOption{
			{InstanceType: "m7i.large", Zone: "us-east-1b", CapacityType: offerings.Spot},
			{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot},
			{InstanceType: "c7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot},
			{InstanceType: "c7i.large", Zone: "us-east-1b", CapacityType: offerings.Spot},
			{InstanceType: "c7i.large", Zone: "us-east-1a", CapacityType: offerings.OnDemand},
		},
		Pods:     []string{"shop/web-0"},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourcePods: resource.MustParse("3")},
		Labels:   map[string]string{"team": "shop"},
		Taints:   []corev1.Taint{{Key: "team", Value: "shop", Effect: corev1.TaintEffectNoSchedule}},
		Requirements: []requirements.Selector{
			{Key: "karpenter.k8s.aws/instance-category", Operator: requirements.In, Values: []string{"c", "m"}},
			{Key: "node.kubernetes.io/instance-type", Operator: requirements.Exists, MinValues: &three},
		},
	}}}, []*scheduling.NodePool{pool}
}

func TestWriteNodeClaims(t *testing.T) {
	plan, pools := smallPlan()
	var b bytes.Buffer
	require.NoError(t, manifest.WriteNodeClaims(&b, plan, pools))
	require.Equal(t, `apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  annotations:
    karpenter.sh/nodeclaim-min-values-relaxed: "true"
    karpenter.sh/nodepool-hash: "4711"
    karpenter.sh/nodepool-hash-version: v3
    note: x
  generateName: general-
  labels:
    karpenter.sh/nodepool: general
    team: shop
  ownerReferences:
  - apiVersion: karpenter.sh/v1
    blockOwnerDeletion: true
    kind: NodePool
    name: general
    uid: 0b4c
spec:
  expireAfter: 240h
  nodeClassRef:
    group: karpenter.k8s.aws
    kind: EC2NodeClass
    name: default
  requirements:
  - key: karpenter.k8s.aws/instance-category
    operator: In
    values:
    - c
    - m
  - key: karpenter.sh/capacity-type
    operator: In
    values:
    - spot
  - key: node.kubernetes.io/instance-type
    minValues: 2
    operator: In
    values:
    - c7i.large
    - m7i.large
  - key: topology.kubernetes.io/zone
    operator: In
    values:
    - us-east-1a
    - us-east-1b
  resources:
    requests:
      cpu: 1500m
      pods: "3"
  taints:
  - effect: NoSchedule
    key: team
    value: shop
  terminationGracePeriod: 1h0m0s
`, b.String())

	// The claims can be read again, as nodes in flight.
	s := read(t, b.String())
	require.Len(t, s.NodeClaims, 1)
	require.Equal(t, "general-1", s.Problem.Nodes[0].Name)
	require.Equal(t, "1500m", s.Problem.Nodes[0].Status.Allocatable.Cpu().String())
	require.Equal(t, "240h", s.NodeClaims[0].Spec.ExpireAfter.String())
}

func TestWriteNodeClaimsOfReservations(t *testing.T) {
	plan, pools := smallPlan()
	plan.Launches[0].Options = []scheduling.LaunchOption{{InstanceType: "m7i.large", Zone: "a", CapacityType: offerings.Reserved, ReservationID: "cr-1"}}
	claims, err := manifest.NodeClaims(plan, pools)
	require.NoError(t, err)
	require.Contains(t, claims[0].Spec.Requirements, requirements.Selector{
		Key: "karpenter.k8s.aws/capacity-reservation-id", Operator: requirements.In, Values: []string{"cr-1"},
	})
}

// A provider may take any combination of the values that a claim allows.
func TestNodeClaimsAllowNothingElse(t *testing.T) {
	types, zones := []string{"a.large", "b.large", "c.large", "d.large", "e.large"}, []string{"z1", "z2", "z3", "z4"}
	for seed := range soak.Cases(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		var all []scheduling.LaunchOption
		share := random.Float64()
		for _, it := range types {
			for _, zone := range zones {
				for _, pay := range []offerings.CapacityType{offerings.Spot, offerings.OnDemand, offerings.Reserved} {
					o := scheduling.LaunchOption{InstanceType: it, Zone: zone, CapacityType: pay}
					if pay == offerings.Reserved {
						o.ReservationID = fmt.Sprintf("cr-%d", random.IntN(9))
					}
					if random.Float64() < share {
						all = append(all, o)
					}
				}
			}
		}
		if len(all) == 0 {
			continue
		}
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		floor := 1 + random.IntN(3)
		plan, pools := smallPlan()
		plan.Launches[0].Options = all
		plan.Launches[0].Requirements = []requirements.Selector{{Key: corev1.LabelInstanceTypeStable, Operator: requirements.Exists, MinValues: &floor}}
		claims, err := manifest.NodeClaims(plan, pools)
		require.NoError(t, err)
		asked := map[string][]string{"karpenter.k8s.aws/capacity-reservation-id": {""}}
		least := 0
		for _, r := range claims[0].Spec.Requirements {
			asked[r.Key] = r.Values
			if r.MinValues != nil {
				least = *r.MinValues
			}
		}
		var allowed []scheduling.LaunchOption
		for _, it := range asked[corev1.LabelInstanceTypeStable] {
			for _, zone := range asked[corev1.LabelTopologyZone] {
				for _, pay := range asked[offerings.CapacityTypeLabel] {
					for _, id := range asked["karpenter.k8s.aws/capacity-reservation-id"] {
						allowed = append(allowed, scheduling.LaunchOption{InstanceType: it, Zone: zone, CapacityType: offerings.CapacityType(pay), ReservationID: id})
					}
				}
			}
		}
		require.Subset(t, all, allowed)
		require.Contains(t, allowed, all[0])
		alike := func(same func(a, b scheduling.LaunchOption) bool) int {
			return lo.CountBy(all, func(o scheduling.LaunchOption) bool { return same(o, all[0]) })
		}
		if all[0].CapacityType != offerings.Reserved {
			inPlace := alike(func(a, b scheduling.LaunchOption) bool { return a.Zone == b.Zone && a.CapacityType == b.CapacityType })
			if inPlace >= floor {
				require.Equal(t, floor, least, "minValues are lowered only where there is no other way")
			}
			if floor == 1 {
				require.GreaterOrEqual(t, len(allowed), inPlace)
				require.GreaterOrEqual(t, len(allowed), alike(func(a, b scheduling.LaunchOption) bool {
					return a.InstanceType == b.InstanceType && a.CapacityType == b.CapacityType
				}))
			}
		}
	}
}

func TestWriteNodeClaimsErrors(t *testing.T) {
	plan, pools := smallPlan()
	require.EqualError(t, manifest.WriteNodeClaims(&bytes.Buffer{}, plan, nil), `launches[general-1].nodePool: there is no NodePool "general"`)
	full := errors.New("disk full")
	require.ErrorIs(t, manifest.WriteNodeClaims(refusing{full}, plan, pools), full)
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

func ExampleWriteNodeClaims() {
	plan := &scheduling.Plan{Launches: []scheduling.Launch{{
		Name: "default-1", NodePool: "default",
		Options: []scheduling.LaunchOption{{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: "on-demand"}},
	}}}
	if err := manifest.WriteNodeClaims(os.Stdout, plan, manifest.DefaultNodePools(ec2.MustCatalog("us-east-1"), nil)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// apiVersion: karpenter.sh/v1
	// kind: NodeClaim
	// metadata:
	//   annotations:
	//     karpenter.sh/nodeclaim-min-values-relaxed: "false"
	//   generateName: default-
	//   labels:
	//     karpenter.sh/nodepool: default
	// spec:
	//   requirements:
	//   - key: karpenter.sh/capacity-type
	//     operator: In
	//     values:
	//     - on-demand
	//   - key: node.kubernetes.io/instance-type
	//     operator: In
	//     values:
	//     - m7i.large
	//   - key: topology.kubernetes.io/zone
	//     operator: In
	//     values:
	//     - us-east-1a
}

// FuzzRead checks that any input is either refused or understood, within bounds, and
// the same each time.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		pod("a") + "---\n" + pod("b"),
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}]}`,
		`{"items":[{"metadata":{"name":"a"}}],"kind":"PodList","apiVersion":"v1"}`,
		"apiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n- kind: X\nkind: List\n",
		deployment("replicas: 3", "resources: {requests: {cpu: 1}}"),
		object("apps/v1", "StatefulSet", "db", "{replicas: 2, "+template+"}"),
		object("batch/v1", "Job", "j", "{parallelism: 2, completions: 5, completionMode: Indexed, "+jobSpec+"}"),
		claim("c1", "", oneType, capacity),
		"apiVersion: v1\nkind: Node\nmetadata: {name: c1}\nspec: {taints: [{key: aws-node-termination-handler/spot-itn, timeAdded: 2026-11-20T09:58:30Z}]}\n---\n" + claim("c1", "", oneType, "conditions: [{type: Drifted, status: 'True'}]"),
		"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {requirements: [{key: a, operator: In, values: [b]}]}}}\n",
		configured("{defaultingType: List, defaultConstraints: [{maxSkew: 3, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]}"),
		revision("web-b", "2", "spec: {containers: [{name: c}]}") + object("apps/v1", "Deployment", "web", "{replicas: 2, "+template+"}"),
		"a: &a [*a]\n", "{{", "[[[[", "---\n...\n%\n", "\ufeff{", "items:\n  - a\n - b\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := manifest.Loader{MaxBytes: 1 << 20, MaxPods: 1000}
		first, err := l.Read("fuzz", strings.NewReader(text))
		second, again := l.Read("fuzz", strings.NewReader(text))
		if err != nil {
			var faults manifest.Faults
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, err.Error())
			require.EqualError(t, again, err.Error())
			require.Nil(t, first)
			return
		}
		require.NoError(t, again)
		require.Equal(t, first.Warnings, second.Warnings)
		require.Len(t, second.Problem.Pods, len(first.Problem.Pods))
		require.Equal(t, first.Cluster().Machines, second.Cluster().Machines)
		names := map[string]bool{}
		for _, p := range first.Problem.Pods {
			name := p.Namespace + "/" + p.Name
			require.False(t, names[name], "pod %s stands twice", name)
			names[name] = true
			require.Empty(t, p.Spec.NodeName)
		}
	})
}
