package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

func TestParseExprs(t *testing.T) {
	two := 2
	tests := map[string][]requirements.Selector{
		"zone in a b":             {In(corev1.LabelTopologyZone, "a", "b")},
		"zone not in a":           {NotIn(corev1.LabelTopologyZone, "a")},
		`"zone" exists`:           {Exists("zone")},
		"pool absent":             {DoesNotExist("karpenter.sh/nodepool")},
		"x/size > 4, x/size < 9":  {Gt("x/size", 4), Lt("x/size", 9)},
		"x/size >= 4,x/size <= 9": {Gte("x/size", 4), Lte("x/size", 9)},
		"type exists min 2":       {{Key: corev1.LabelInstanceTypeStable, Operator: requirements.Exists, MinValues: &two}},
		"type in m c min 2":       {AtLeast(2, In(corev1.LabelInstanceTypeStable, "m", "c"))},
		"zone in":                 {{Key: corev1.LabelTopologyZone, Operator: requirements.In}},
		"capacity-type in spot":   {In(offerings.CapacityTypeLabel, "spot")},
	}
	for text, want := range tests {
		got, err := parseExprs(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"zone":                `requirement "zone": want a key and an operator`,
		"zone in a,":          `requirement "": want a key and an operator`,
		"zone within a":       `requirement "zone within a": unknown operator "within"`,
		"type exists min two": `requirement "type exists min two": min: strconv.Atoi: parsing "two": invalid syntax`,
	} {
		_, err := parseExprs(text)
		assert.EqualError(t, err, want, text)
	}
}

func TestParseTaint(t *testing.T) {
	tests := map[string]corev1.Taint{
		"k=v:NoSchedule":  {Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule},
		"a.b/k:NoExecute": {Key: "a.b/k", Effect: corev1.TaintEffectNoExecute},
		"k=:Unheard":      {Key: "k", Effect: "Unheard"},
	}
	for text, want := range tests {
		got, err := parseTaint(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	_, err := parseTaint("k=v")
	assert.EqualError(t, err, `taint "k=v": want KEY[=VALUE]:EFFECT`)
}

func TestParseToleration(t *testing.T) {
	tests := map[string]corev1.Toleration{
		"*":              {Operator: corev1.TolerationOpExists},
		"*:NoExecute":    {Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		"k":              {Key: "k", Operator: corev1.TolerationOpExists},
		"k:NoSchedule":   {Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		"k=v":            {Key: "k", Operator: corev1.TolerationOpEqual, Value: "v"},
		"k=v:NoExecute":  {Key: "k", Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffectNoExecute},
		"k>5:NoSchedule": {Key: "k", Operator: corev1.TolerationOpGt, Value: "5", Effect: corev1.TaintEffectNoSchedule},
		"a.b/k<5":        {Key: "a.b/k", Operator: corev1.TolerationOpLt, Value: "5"},
	}
	for text, want := range tests {
		assert.Equal(t, want, parseToleration(text), text)
	}
}

func TestParsePort(t *testing.T) {
	tests := map[string]corev1.ContainerPort{
		"80":              {HostPort: 80, Protocol: corev1.ProtocolTCP},
		"53/UDP":          {HostPort: 53, Protocol: corev1.ProtocolUDP},
		"127.0.0.1:80":    {HostPort: 80, HostIP: "127.0.0.1", Protocol: corev1.ProtocolTCP},
		"10.0.0.1:9/SCTP": {HostPort: 9, HostIP: "10.0.0.1", Protocol: corev1.ProtocolSCTP},
	}
	for text, want := range tests {
		o, err := parsePort(text)
		require.NoError(t, err, text)
		want.ContainerPort = want.HostPort
		assert.Equal(t, []corev1.ContainerPort{want}, Pod("p", o).Spec.Containers[0].Ports, text)
	}
	_, err := parsePort("http")
	assert.EqualError(t, err, `port "http": want [IP:]PORT[/PROTOCOL]`)
}

func TestParsePods(t *testing.T) {
	g, err := parsePods("3 x web cpu=500m memory=1Gi limits=(gpu=1) init=(cpu=2) ns=shop priority=7 select=(zone=a disk=ssd) " +
		"where=(x exists) where=(y exists) tolerate=* port=80 label=(app=web) overhead=(cpu=1m) pod-level=(cpu=4)")
	require.NoError(t, err)
	pods := g.pods()
	require.Len(t, pods, 3)
	want := Pods(3, "web", Requests(MilliCPU(500), GiB(1)), Limits(Count("nvidia.com/gpu", 1)), Init(Cores(2)),
		Namespace("shop"), Priority(7), Select(corev1.LabelTopologyZone, "a"), Select("disk", "ssd"),
		Where(Exists("x")), Where(Exists("y")), TolerateAll(), HostPort(80), Label("app", "web"), Overhead(MilliCPU(1)), PodLevel(Cores(4)))
	for i := range pods {
		assert.True(t, same(want[i], pods[i]), "want %v\ngot  %v", want[i], pods[i])
	}

	one, err := parsePods("db on=n1 done daemon=logging")
	require.NoError(t, err)
	assert.Equal(t, "db", one.pods()[0].Name)

	for line, want := range map[string]string{
		"0 x web":         `"0": want a number of pods`,
		"cpu=1":           "want the pods' name",
		"web colour=blue": `unexpected word "colour=blue"`,
		"web label=(a)":   `"a": want KEY=VALUE`,
		"web cpu=much":    "cpu=much: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
		"web x=1 y=2":     "unexpected word \"x=1\"\nunexpected word \"y=2\"",
	} {
		_, err := parsePods(line)
		assert.EqualError(t, err, want, line)
	}
}

func TestParseOffering(t *testing.T) {
	tests := map[string]offerings.Offering{
		"spot@a=0.03":         {Zone: "a", CapacityType: offerings.Spot, Price: Cents(3)},
		"spot@a=0.03~5%!":     {Zone: "a", CapacityType: offerings.Spot, Price: Cents(3), InterruptionRate: 0.05, Unavailable: true},
		"reserved@b=0.02x4":   {Zone: "b", CapacityType: offerings.Reserved, Price: Cents(2), ReservationCount: 4, ReservationID: "m-b"},
		"reserved@b=0x1#cr-9": {Zone: "b", CapacityType: offerings.Reserved, ReservationCount: 1, ReservationID: "cr-9"},
		"spot@a=0.03!+(gpu=1)-(cpu=1)": {
			Zone: "a", CapacityType: offerings.Spot, Price: Cents(3), Unavailable: true,
			Capacity: quantities("nvidia.com/gpu", "1"), Overhead: quantities("cpu", "1"),
		},
		"on-demand@b=0.1!": {Zone: "b", CapacityType: offerings.OnDemand, Price: Cents(10), Unavailable: true},
	}
	for text, want := range tests {
		words, err := splitWords(text)
		require.NoError(t, err)
		got, err := parseOffering("m", words[0])
		require.NoError(t, err, text)
		assert.True(t, same(want, got), "%s: %+v", text, got)
	}
	for _, text := range []string{"spot@a=0.1(gpu=1)", "spot@a=0.1+(gpu=x)", "spot@a=cheap", "spot@a=0.1~x%", "reserved@a=1xmany"} {
		words, err := splitWords(text)
		require.NoError(t, err)
		_, err = parseOffering("m", words[0])
		assert.ErrorContains(t, err, text)
	}
}
