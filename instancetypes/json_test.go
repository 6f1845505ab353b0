package instancetypes_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// documented is the example of the package comment.
const documented = `{
  "version": 1,
  "provenance": [{"source": "price list", "date": "2026-10-01", "license": "MIT",
                  "covers": "on-demand prices", "estimated": ["overhead"]}],
  "instanceTypes": [{
    "name": "m7i.large",
    "labels": {"kubernetes.io/arch": "amd64", "karpenter.k8s.aws/instance-family": "m7i"},
    "capacity": {"cpu": "2", "memory": "7577Mi", "pods": "29", "ephemeral-storage": "20Gi"},
    "overhead": {"kubeReserved": {"cpu": "70m", "memory": "574Mi"},
                 "systemReserved": {}, "evictionThreshold": {"memory": "100Mi"}},
    "offerings": [
      {"zone": "us-east-1a", "capacityType": "on-demand", "price": 0.1008},
      {"zone": "us-east-1a", "capacityType": "spot", "price": 0.0412, "interruptionRate": 0.05,
       "estimated": ["interruptionRate"]},
      {"zone": "us-east-1b", "capacityType": "reserved", "price": 0,
       "reservationID": "cr-1", "reservationCount": 4, "unavailable": true,
       "capacity": {"pods": "58"}, "overhead": {"memory": "700Mi"},
       "labels": {"topology.k8s.aws/zone-id": "use1-az2"}}
    ]
  }]
}`

func TestReadJSON(t *testing.T) {
	c, err := instancetypes.ReadJSON(strings.NewReader(documented))
	require.NoError(t, err)
	assert.Equal(t, []string{"m7i.large: on-demand@us-east-1a=0.1008 spot@us-east-1a=0.0412 reserved@us-east-1b/cr-1=0x4"}, listing(c))
	assert.Equal(t, []instancetypes.Provenance{{
		Source: "price list", Date: "2026-10-01", License: "MIT", Covers: "on-demand prices", Estimated: []string{"overhead"},
	}}, c.Provenance())

	want := machine("m7i.large", "cpu=2 memory=7577Mi pods=29 ephemeral-storage=20Gi",
		"on-demand@us-east-1a=0.1008 spot@us-east-1a=0.0412 reserved@us-east-1b/cr-1=0x4")
	want.Labels = map[string]string{"karpenter.k8s.aws/instance-family": "m7i"}
	want.Overhead.KubeReserved = resources("cpu=70m memory=574Mi")
	want.Overhead.EvictionThreshold = resources("memory=100Mi")
	want.Offerings[1].InterruptionRate = 0.05
	want.Offerings[1].Estimated = []string{"interruptionRate"}
	reserved := &want.Offerings[2]
	reserved.Unavailable = true
	reserved.Capacity, reserved.Overhead = resources("pods=58"), resources("memory=700Mi")
	reserved.Labels = map[string]string{"topology.k8s.aws/zone-id": "use1-az2"}
	sameCatalog(t, catalog(t, want), c)
}

// one wraps the body of a type.
func one(body string) string { return `{"instanceTypes":[{` + body + `}]}` }

const small = `"name":"m","capacity":{"cpu":"1","memory":"1Gi"}`

func TestReadJSONAccepts(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no version, no offerings", one(small), "m:"},
		{"plain numbers", one(`"name":"m","capacity":{"cpu":1.5,"memory":1073741824}`), "m:"},
		{"a price with an exponent", one(small + `,"offerings":[{"zone":"a","capacityType":"spot","price":4.12e-2}]`), "m: spot@a=0.0412"},
		{"more decimals than there are", one(small + `,"offerings":[{"zone":"a","capacityType":"spot","price":0.00000000049}]`), "m: spot@a=0"},
		{"a byte order mark", "\xef\xbb\xbf" + one(small), "m:"},
		{"space around", "\n\n " + one(small) + " \n", "m:"},
		{"escapes", one(strings.ReplaceAll(small, `"m"`, `"\u006d"`)), "m:"},
		{"null is absent", one(small + `,"offerings":null`), "m:"},
		{"empty lists", one(small + `,"labels":{},"overhead":{},"offerings":[]`), "m:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadJSON(strings.NewReader(tc.text))
			require.NoError(t, err)
			assert.Equal(t, []string{tc.want}, listing(c))
		})
	}
}

func TestReadJSONFaults(t *testing.T) {
	offering := func(body string) string { return one(small + `,"offerings":[{` + body + `}]`) }
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"line 1, column 1: the file ends too early"}},
		{"not JSON", "name,zone\n", []string{"line 1, column 1: is not JSON: invalid character 'a' in literal null (expecting 'u')"}},
		{"a string", `"x"`, []string{"line 1, column 1: must be an object, not a string"}},
		{"an array", `[{"name":"m"}]`, []string{"line 1, column 1: must be an object that holds instanceTypes; an array of types is the format of Karpenter's KWOK provider"}},
		{"no types", `{"version":1}`, []string{"the catalog is empty"}},
		{"no types in the list", `{"instanceTypes":[]}`, []string{"the catalog is empty"}},
		{"a later version", `{"version":2,"instanceTypes":[{` + small + `}]}`, []string{`line 1, column 12: version: "2": is not a version that this program knows`}},
		{"cut off", `{"instanceTypes":[{"name":"m",`, []string{"line 1, column 31: the file ends too early"}},
		{"two documents", one(small) + one(small), []string{"line 1, column 72: an object follows the end of the catalog"}},
		{"garbage after", one(small) + "x", []string{"is not JSON: invalid character 'x'"}},
		{"unknown field", "{\n \"instanceTypes\":[\n  {" + small + ",\n   \"offering\":[{\"zone\":[1]}]}]}", []string{"line 4, column 4: instance type m: offering: is not known (did you mean offerings?)"}},
		{"unknown field at the top", `{"types":[],"instanceTypes":[{` + small + `}]}`, []string{"line 1, column 2: types: is not known"}},
		{"unknown field of an offering", offering(`"zone":"a","capacityType":"spot","price":1,"spotPrice":2`), []string{"offerings[0].spotPrice: is not known"}},
		{"unknown overhead", one(small + `,"overhead":{"memory":"1Gi"}`), []string{"overhead.memory: is not known"}},
		{"unknown provenance", `{"provenance":[{"url":"x"}],"instanceTypes":[{` + small + `}]}`, []string{"provenance[0].url: is not known"}},
		{"case", one(`"Name":"m",` + small), []string{"Name: is not known (did you mean name?)"}},
		{"twice the same key", one(small + `,"name":"n"`), []string{"instance type n: name: is given twice"}},
		{"twice the same label", one(small + `,"labels":{"a":"1","a":"2"}`), []string{"labels.a: is given twice"}},
		{"null in a map", one(small + `,"labels":{"a":null}`), []string{"labels.a: is null"}},
		{"wrong kind", one(`"name":["m"],"capacity":{"cpu":true,"memory":{}},"labels":{"a":1},"offerings":[7]`), []string{
			`name: "[\"m\"]": is not text: put it into quotes`, `capacity.cpu: "true": is not a quantity such as "500m" or "2Gi"`,
			`capacity.memory: "{}": is not a quantity such as "500m" or "2Gi"`, `labels.a: "1": is not text: put it into quotes`,
			`offerings[0]: "7": is not an object`,
		}},
		{"bad quantity", one("\n\"name\":\"m\",\n\"capacity\":{\"cpu\":\"two\",\n\"memory\":\"1GB\"}"), []string{
			`line 3, column 19: instance type m: capacity.cpu: "two": is not a quantity such as "500m" or "2Gi"`,
			`line 4, column 10: instance type m: capacity.memory: "1GB": is not a quantity`,
		}},
		{"endless quantity", one(`"name":"m","capacity":{"cpu":"1","memory":"1e1000000000"}`), []string{`capacity.memory: "1e1000000000": is not a quantity: its exponent is too large`}},
		{"NaN", offering(`"zone":"a","capacityType":"spot","price":NaN`), []string{"is not JSON: invalid character 'N'"}},
		{"price as a string", offering(`"zone":"a","capacityType":"spot","price":"1"`), []string{`offerings[0].price: "1": want a JSON number of USD per hour`}},
		{"negative price", offering(`"zone":"a","capacityType":"spot",` + "\n" + `"price":-1`), []string{`line 2, column 9: instance type m: offerings[0].price: "-1": must not be negative`}},
		{"huge price", offering(`"zone":"a","capacityType":"spot","price":1e300`), []string{"must not exceed"}},
		{"no price", offering(`"zone":"a","capacityType":"spot"`), []string{"offerings[0].price: is missing; write 0 if it is free"}},
		{"half a machine", offering(`"zone":"a","capacityType":"reserved","price":1,"reservationID":"x","reservationCount":1.5`), []string{`reservationCount: "1.5": is not a whole number of 64 bits`}},
		{"rate", offering(`"zone":"a","capacityType":"spot","price":1,"interruptionRate":1.5`), []string{"offerings[0].interruptionRate: 1.5: want a share from 0 to 1"}},
		{"endless rate", offering(`"zone":"a","capacityType":"spot","price":1,"interruptionRate":1e999`), []string{`interruptionRate: "1e999": is not a number`}},
		{"names twice", "{\"instanceTypes\":[{" + small + "},\n{" + small + "}]}", []string{`line 2, column 1: instance type m: name: "m": is the name of two types, the first in line 1`}},
		{"no name", one(`"capacity":{"cpu":"1","memory":"1Gi"}`), []string{"line 1, column 19: name: must not be empty"}},
		{
			"everything at once", "{\"instanceTypes\":[{\"name\":\"m\",\"capacity\":{\"cpu\":\"x\"}},\n{\"name\":\"n\",\"capacity\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"offerings\":[\n{\"zone\":\"a\",\"capacityType\":\"spot\",\"price\":1},\n{\"zone\":\"\",\"capacityType\":\"CHEAP\",\"price\":-1}]}]}",
			[]string{
				`line 1, column 49: instance type m: capacity.cpu: "x": is not a quantity`,
				"line 1, column 42: instance type m: capacity.memory: is missing",
				`line 4, column 43: instance type n: offerings[1].price: "-1": must not be negative`,
				"line 4, column 9: instance type n: offerings[1].zone: must not be empty",
				`line 4, column 27: instance type n: offerings[1].capacityType: capacity type "CHEAP": want reserved, spot, on-demand or a lower-case label value`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadJSON(strings.NewReader(tc.text))
			require.Error(t, err)
			assert.Nil(t, c)
			assert.True(t, strings.HasPrefix(err.Error(), "reading JSON catalog: "), err)
			got := lines(err)
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
}

// brokenReader fails after some text.
type brokenReader struct {
	text *strings.Reader
	err  error
}

func (r brokenReader) Read(p []byte) (int, error) {
	if n, err := r.text.Read(p); err == nil {
		return n, nil
	}
	return 0, r.err
}

func TestReadersPassOnReadErrors(t *testing.T) {
	disk := errors.New("disk on fire")
	for name, read := range readers() {
		for _, text := range []string{"", `{"instanceTypes":[{"name":"m",`, "[{", "name,cpu\nm,"} {
			_, err := read(brokenReader{strings.NewReader(text), disk})
			require.Error(t, err)
			if text == "" {
				assert.ErrorIs(t, err, disk, name)
			}
		}
	}
}

func TestWriteJSON(t *testing.T) {
	c, err := instancetypes.ReadJSON(strings.NewReader(documented))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, c.WriteJSON(&out))
	assert.Equal(t, `{
"version":1,
"provenance":[{"source":"price list","date":"2026-10-01","license":"MIT","covers":"on-demand prices","estimated":["overhead"]}],
"instanceTypes":[
{"name":"m7i.large","labels":{"karpenter.k8s.aws/instance-family":"m7i","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux"},"capacity":{"cpu":"2","ephemeral-storage":"20Gi","memory":"7577Mi","pods":"29"},"overhead":{"kubeReserved":{"cpu":"70m","memory":"574Mi"},"evictionThreshold":{"memory":"100Mi"}},"offerings":[
 {"zone":"us-east-1a","capacityType":"on-demand","price":0.1008},
 {"zone":"us-east-1a","capacityType":"spot","price":0.0412,"interruptionRate":0.05,"estimated":["interruptionRate"]},
 {"zone":"us-east-1b","capacityType":"reserved","price":0,"unavailable":true,"reservationID":"cr-1","reservationCount":4,"capacity":{"pods":"58"},"overhead":{"memory":"700Mi"},"labels":{"topology.k8s.aws/zone-id":"use1-az2"}}]}
]
}
`, out.String())
}

func TestJSONRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 200 {
		want := randomCatalog(t, r).WithProvenance(instancetypes.Provenance{Source: "random <&> \"quoted\"", Estimated: []string{"all"}})
		var first, second bytes.Buffer
		require.NoError(t, want.WriteJSON(&first))
		got, err := instancetypes.ReadJSON(bytes.NewReader(first.Bytes()))
		require.NoError(t, err)
		sameCatalog(t, want, got)
		assert.Equal(t, want.Provenance(), got.Provenance())
		require.NoError(t, got.WriteJSON(&second))
		assert.Equal(t, first.String(), second.String())
	}
}

// failingWriter takes n bytes.
type failingWriter struct{ n int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWritersReportErrors(t *testing.T) {
	types := make([]*instancetypes.InstanceType, 0, 200)
	for i := range 200 {
		it := randomType(rand.New(rand.NewPCG(uint64(i), 0)), i)
		it.Offerings = append(it.Offerings, offerings.Offering{Zone: "z", CapacityType: offerings.Spot, Price: 1})
		types = append(types, it)
	}
	c := catalog(t, types...)
	for _, n := range []int{0, 5000} {
		assert.ErrorContains(t, c.WriteJSON(&failingWriter{n}), "writing JSON catalog: disk full")
		assert.ErrorContains(t, c.WriteCSV(&failingWriter{n}), "writing CSV catalog: disk full")
	}
}

func FuzzReadJSON(f *testing.F) {
	fuzzReader(f, []string{
		documented, one(small), "", "{", "[]", `{"instanceTypes":[{"name":"m","capacity":{"cpu":1e9,"memory":"1Ei"}}]}`,
		`{"instanceTypes":[[[]],{},null,1]}`, `{"version":1,"version":1}`, "\xef\xbb\xbf{}",
		one(small + `,"offerings":[{"zone":"a","capacityType":"reserved","price":0,"reservationID":"r"}]`),
	}, instancetypes.ReadJSON, (*instancetypes.Catalog).WriteJSON, instancetypes.ReadJSON)
}
