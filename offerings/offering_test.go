package offerings

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func spotOffering() Offering {
	return Offering{
		Zone: "us-east-1a", CapacityType: Spot, Price: MustPrice("0.0412"), InterruptionRate: 0.05,
		Capacity: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("8Gi")},
		Overhead: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		Labels:   map[string]string{"topology.k8s.aws/zone-id": "use1-az1"}, // A4
	}
}

func reservedOffering() Offering {
	return Offering{Zone: "us-east-1a", CapacityType: Reserved, Price: 0, ReservationID: "cr-1", ReservationCount: 2}
}

func TestNodeLabels(t *testing.T) {
	assert.Equal(t, map[string]string{
		"topology.kubernetes.io/zone": "us-east-1a", "karpenter.sh/capacity-type": "spot", "topology.k8s.aws/zone-id": "use1-az1",
	}, spotOffering().NodeLabels())
	assert.Equal(t, map[string]string{
		"topology.kubernetes.io/zone": "us-east-1a", "karpenter.sh/capacity-type": "reserved", "karpenter.k8s.aws/capacity-reservation-id": "cr-1",
	}, reservedOffering().NodeLabels())
}

// A3, A8: unavailable and used-up offerings stay listed and are not bought.
func TestLaunchable(t *testing.T) {
	assert.True(t, spotOffering().Launchable())
	assert.True(t, reservedOffering().Launchable())

	gone := spotOffering()
	gone.Unavailable = true
	assert.False(t, gone.Launchable())

	usedUp := reservedOffering()
	usedUp.ReservationCount = 0
	assert.False(t, usedUp.Launchable())

	expiring := reservedOffering()
	expiring.Unavailable = true
	assert.False(t, expiring.Launchable())
}

func TestDeepCopy(t *testing.T) {
	o := spotOffering()
	o.Estimated = []string{"price"}
	c := o.DeepCopy()
	assert.Equal(t, o, c)
	c.Capacity[corev1.ResourceMemory] = resource.MustParse("1Gi")
	c.Overhead[corev1.ResourceCPU] = resource.MustParse("1")
	c.Labels["topology.k8s.aws/zone-id"] = "changed"
	c.Estimated[0] = "overhead"
	want := spotOffering()
	want.Estimated = []string{"price"}
	assert.Equal(t, want, o)
	assert.Equal(t, Offering{}, Offering{}.DeepCopy())
}

func TestValidateAccepts(t *testing.T) {
	estimated := spotOffering()
	estimated.Estimated = []string{"price", "interruptionRate"}
	consistent := spotOffering()
	consistent.Labels[ZoneLabel] = consistent.Zone
	for _, o := range []Offering{
		spotOffering(), reservedOffering(), estimated, consistent,
		{Zone: "z", CapacityType: OnDemand},
		{Zone: "z", CapacityType: Spot, InterruptionRate: 1, Unavailable: true},
		{Zone: "z", CapacityType: Reserved, ReservationID: "cr-1"},
	} {
		require.NoError(t, o.Validate())
	}
}

func TestValidateRejects(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Offering)
		want   string
	}{
		"no zone":           {func(o *Offering) { o.Zone = "" }, "zone: must not be empty"},
		"zone is no label":  {func(o *Offering) { o.Zone = "us east" }, `zone: "us east": a valid label must be`},
		"capacity type":     {func(o *Offering) { o.CapacityType = "Spot" }, `capacityType: capacity type "Spot": want reserved, spot or on-demand; did you mean spot?`},
		"no capacity type":  {func(o *Offering) { o.CapacityType, o.InterruptionRate = "", 0 }, `capacityType: capacity type "": want`},
		"negative price":    {func(o *Offering) { o.Price = -1 }, "price: -0.000000001: must not be negative"},
		"rate above one":    {func(o *Offering) { o.InterruptionRate = 5 }, "interruptionRate: 5: want a share from 0 to 1"},
		"negative rate":     {func(o *Offering) { o.InterruptionRate = -0.1 }, "interruptionRate: -0.1: want a share"},
		"rate NaN":          {func(o *Offering) { o.InterruptionRate = math.NaN() }, "interruptionRate: NaN: want a share"},
		"rate on demand":    {func(o *Offering) { o.CapacityType = OnDemand }, "interruptionRate: 0.05: only spot offerings have one, this is on-demand"},
		"spot count":        {func(o *Offering) { o.ReservationCount = 3 }, "reservationCount: 3: needs a reservationID, since nodes are counted by it"},
		"no reservation":    {func(o *Offering) { *o = reservedOffering(); o.ReservationID = "" }, "reservationID: must not be empty"},
		"reservation id":    {func(o *Offering) { *o = reservedOffering(); o.ReservationID = "a b" }, `reservationID: "a b": a valid label must be`},
		"negative count":    {func(o *Offering) { *o = reservedOffering(); o.ReservationCount = -1 }, "reservationCount: -1: must not be negative"},
		"negative capacity": {func(o *Offering) { o.Capacity[corev1.ResourceMemory] = resource.MustParse("-1Gi") }, "capacity[memory]: -1Gi: must not be negative"},
		"nameless capacity": {func(o *Offering) { o.Capacity[""] = resource.MustParse("1") }, "capacity: resource name must not be empty"},
		"negative overhead": {func(o *Offering) { o.Overhead[corev1.ResourceCPU] = resource.MustParse("-1") }, "overhead[cpu]: -1: must not be negative"},
		"label key":         {func(o *Offering) { o.Labels["a b"] = "c" }, `labels: key "a b"`},
		"label value":       {func(o *Offering) { o.Labels["a"] = strings.Repeat("x", 64) }, "labels[a]: "},
		"zone label":        {func(o *Offering) { o.Labels[ZoneLabel] = "elsewhere" }, `labels[topology.kubernetes.io/zone]: "elsewhere": contradicts "us-east-1a"`},
		"old zone label": {
			func(o *Offering) { o.Labels[corev1.LabelFailureDomainBetaZone] = "elsewhere" },
			`labels[failure-domain.beta.kubernetes.io/zone]: "elsewhere": contradicts "us-east-1a"`,
		},
		"capacity type label": {func(o *Offering) { o.Labels[CapacityTypeLabel] = "on-demand" }, `contradicts "spot"`},
		"reservation label":   {func(o *Offering) { o.Labels[ReservationIDLabel] = "cr-1" }, "needs the same reservationID"},
		"estimated":           {func(o *Offering) { o.Estimated = []string{"labels"} }, `estimated: "labels": want one of capacity, interruptionRate, overhead, price, reservationCount, unavailable, zone`},
	} {
		t.Run(name, func(t *testing.T) {
			o := spotOffering()
			c.change(&o)
			require.ErrorContains(t, o.Validate(), c.want)
		})
	}
}

func TestOfferingJSON(t *testing.T) {
	for _, o := range []Offering{spotOffering(), reservedOffering()} {
		data, err := json.Marshal(o)
		require.NoError(t, err)
		var back Offering
		require.NoError(t, json.Unmarshal(data, &back))
		again, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(data), string(again))
	}
	data, err := json.Marshal(Offering{Zone: "a", CapacityType: OnDemand, Price: MustPrice("0.1")})
	require.NoError(t, err)
	assert.Equal(t, `{"zone":"a","capacityType":"on-demand","price":0.1}`, string(data))
}
