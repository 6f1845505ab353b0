package instancetypes_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestValidate(t *testing.T) {
	valid := func() *instancetypes.InstanceType {
		it := machine("m7i.large", "cpu=2 memory=8Gi pods=29", "on-demand@a=0.1 spot@a=0.04 reserved@a/cr-1=0x2")
		it.Labels = map[string]string{corev1.LabelArchStable: "amd64"}
		it.Overhead = instancetypes.Overhead{KubeReserved: resources("cpu=70m"), EvictionThreshold: resources("memory=100Mi")}
		return it
	}
	require.NoError(t, valid().Validate())

	type it = *instancetypes.InstanceType
	for _, tc := range []struct {
		name  string
		spoil func(t it)
		want  []string // parts of each fault, in order
	}{
		{"empty name", func(t it) { t.Name = "" }, []string{"name: must not be empty"}},
		{"name that no label can hold", func(t it) { t.Name = "m7i large" }, []string{`instance type m7i large: name: "m7i large": is not a valid label value`}},
		{"name too long", func(t it) { t.Name = strings.Repeat("m", 64) }, []string{"must be no more than 63"}},
		{"no cpu", func(t it) { delete(t.Capacity, "cpu") }, []string{"capacity.cpu: is missing"}},
		{"no memory", func(t it) { delete(t.Capacity, "memory") }, []string{"capacity.memory: is missing"}},
		{"no capacity", func(t it) { t.Capacity = nil }, []string{"capacity.cpu: is missing", "capacity.memory: is missing"}},
		{"zero cpu", func(t it) { t.Capacity["cpu"] = quantity(0) }, []string{`capacity.cpu: "0": must be more than zero`}},
		{"negative memory", func(t it) { t.Capacity["memory"] = quantity(-1) }, []string{`capacity.memory: "-1": must not be negative`}},
		{"cpu beyond int64 in millicores", func(t it) { t.Capacity["cpu"] = quantity(math.MaxInt64 / 999) }, []string{"is too large: it must fit a signed 64-bit integer of millicores"}},
		{"memory that was cut to int64", func(t it) { t.Capacity["memory"] = resource.MustParse("9999999Ei") }, []string{"capacity.memory: is too large"}},
		{"memory beyond int64", func(t it) { t.Capacity["memory"] = resource.MustParse("1e30") }, []string{"capacity.memory: is too large"}},
		{"an exponent that nobody can compute", func(t it) { t.Capacity["memory"] = resource.MustParse("1e2000000000") }, []string{"capacity.memory: is too large"}},
		{"half a pod", func(t it) { t.Capacity["pods"] = resource.MustParse("1500m") }, []string{`capacity.pods: "1500m": must be a whole number`}},
		{"half a device", func(t it) { t.Capacity["nvidia.com/gpu"] = resource.MustParse("0.5") }, []string{`capacity[nvidia.com/gpu]: "500m": must be a whole number`}},
		{"resource name", func(t it) { t.Capacity["a b"] = quantity(1) }, []string{`capacity[a b]: "a b": is not a resource name`}},
		{"kube-reserved", func(t it) { t.Overhead.KubeReserved = resources("cpu=-1") }, []string{`overhead.kubeReserved.cpu: "-1": must not be negative`}},
		{"system-reserved", func(t it) { t.Overhead.SystemReserved = resources("cpu=-1") }, []string{`overhead.systemReserved.cpu: "-1": must not be negative`}},
		{"eviction threshold", func(t it) { t.Overhead.EvictionThreshold = resources("memory=-1Mi") }, []string{`overhead.evictionThreshold.memory: "-1Mi": must not be negative`}},
		{"label key", func(t it) { t.Labels["a/b/c"] = "x" }, []string{`labels[a/b/c]: "a/b/c": is not a label key`}},
		{"label value", func(t it) { t.Labels["a"] = "x y" }, []string{`labels.a: "x y": is not a label value`}},
		{"another type's name", func(t it) { t.Labels[corev1.LabelInstanceTypeStable] = "m7i.xlarge" }, []string{`labels[node.kubernetes.io/instance-type]: "m7i.xlarge": must be the name of the type`}},
		{"another type's name under the beta key", func(t it) { t.Labels[corev1.LabelInstanceType] = "m7i.xlarge" }, []string{"must be the name of the type"}},
		{"a label and its alias", func(t it) { t.Labels["beta.kubernetes.io/arch"] = "arm64" }, []string{`contradicts "arm64" of its alias beta.kubernetes.io/arch`}},
		{"zone on the type", func(t it) { t.Labels[corev1.LabelTopologyZone] = "a" }, []string{"labels[topology.kubernetes.io/zone]: \"a\": differs from node to node and cannot be a label of the type"}},
		{"capacity type on the type", func(t it) { t.Labels[offerings.CapacityTypeLabel] = "spot" }, []string{"cannot be a label of the type"}},
		{"negative price", func(t it) { t.Offerings[1].Price = -1 }, []string{"offerings[1].price: -0.000000001: must not be negative"}},
		{"unknown capacity type", func(t it) { t.Offerings[0].CapacityType = "Preemptible" }, []string{"offerings[0].capacityType"}},
		{"no zone", func(t it) { t.Offerings[0].Zone = "" }, []string{"offerings[0].zone: must not be empty"}},
		{"reserved without id", func(t it) { t.Offerings[2].ReservationID = "" }, []string{"offerings[2].reservationID: must not be empty"}},
		{"negative count", func(t it) { t.Offerings[2].ReservationCount = -1 }, []string{"offerings[2].reservationCount: -1: must not be negative"}},
		{"count on spot", func(t it) { t.Offerings[1].ReservationCount = 1 }, []string{"offerings[1].reservationCount: 1: needs a reservationID"}},
		{"interruption rate above 1", func(t it) { t.Offerings[1].InterruptionRate = 1.5 }, []string{"offerings[1].interruptionRate: 1.5"}},
		{"interruption rate NaN", func(t it) { t.Offerings[1].InterruptionRate = math.NaN() }, []string{"offerings[1].interruptionRate: NaN"}},
		{"same offering twice", func(t it) { t.Offerings[1] = t.Offerings[0] }, []string{`offerings[1]: "a on-demand": is the same zone, capacity type and reservation as offerings[0]`}},
		{"same reservation twice", func(t it) { t.Offerings = append(t.Offerings, t.Offerings[2]) }, []string{`offerings[3]: "a reserved cr-1": is the same`}},
		{"offering's capacity", func(t it) { t.Offerings[0].Capacity = resources("memory=-1") }, []string{`offerings[0].capacity.memory: "-1": must not be negative`}},
		{"offering's overhead", func(t it) { t.Offerings[0].Overhead = resources("memory=1e30") }, []string{"offerings[0].overhead.memory: is too large"}},
		{"offering of another architecture", func(t it) { t.Offerings[0].Labels = map[string]string{corev1.LabelArchStable: "arm64"} }, []string{`offerings[0].labels[kubernetes.io/arch]: "arm64": contradicts "amd64" of the type`}},
		{"offering of another type", func(t it) { t.Offerings[0].Labels = map[string]string{corev1.LabelInstanceTypeStable: "x"} }, []string{`contradicts "m7i.large" of the type`}},
		{"offering's zone under a driver's key", func(t it) { t.Offerings[0].Labels = map[string]string{"topology.ebs.csi.aws.com/zone": "b"} }, []string{`offerings[0].labels[topology.ebs.csi.aws.com/zone]: "b": contradicts "a"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			it := valid()
			tc.spoil(it)
			got := lines(it.Validate())
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
			}
			_, err := instancetypes.NewCatalog(it)
			assert.Len(t, faultsOf(err), len(tc.want), "NewCatalog validates alike")
		})
	}
}

func TestValidateAllowsWhatMachinesReallyHave(t *testing.T) {
	for _, tc := range []struct {
		name string
		it   *instancetypes.InstanceType
	}{
		{"no offerings", machine("m", "cpu=2 memory=8Gi", "")},
		{"memory of zero, as sources that count in GiB say of a t3.nano", machine("m", "cpu=2 memory=0", "spot@a=0.01")},
		{"two reservations in a zone", machine("m", "cpu=2 memory=8Gi", "reserved@a/cr-1=0x1 reserved@a/cr-2=0x1")},
		{"an exhausted reservation", machine("m", "cpu=2 memory=8Gi", "reserved@a/cr-1=0x0")},
		{"free of charge", machine("m", "cpu=2 memory=8Gi", "on-demand@a=0")},
		{"zero devices", machine("m", "cpu=2 memory=8Gi nvidia.com/gpu=0", "")},
		{"Azure's names", machine("Standard_D2s_v5", "cpu=2 memory=8Gi", "")},
		{"the largest amounts", machine("m", "cpu=9223372036854774 memory=7Ei", "")},
		{"more overhead than capacity", func() *instancetypes.InstanceType {
			it := machine("m", "cpu=2 memory=8Gi", "")
			it.Overhead.KubeReserved = resources("cpu=3")
			return it
		}()},
	} {
		t.Run(tc.name, func(t *testing.T) { assert.NoError(t, tc.it.Validate()) })
	}
}

// A type names its faults, all of them, so that one look at the message is enough.
func TestValidateReportsEveryFault(t *testing.T) {
	it := machine("m", "cpu=-1 memory=-1", "on-demand@a=0.1 on-demand@a=0.2")
	it.Labels = map[string]string{"a": "x y"}
	it.Offerings[0].Price = -5
	got := faultsOf(it.Validate())
	require.Len(t, got, 5)
	for _, f := range got {
		assert.Equal(t, "m", f.Type)
		assert.NotEmpty(t, f.Field)
		assert.NotEmpty(t, f.Problem)
	}
}
