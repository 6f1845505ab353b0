package instancetypes_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func TestReadCSV(t *testing.T) {
	const text = `# our price list, October 2026
name,arch,os,cpu,memory,pods,ephemeralStorage,gpu,zone,capacityType,price,interruptionRate,reservationID,reservationCount,unavailable,estimated,label:team,label:example.com/empty,capacity:vpc.amazonaws.com/efa,reserved:memory,systemReserved:cpu,evictionThreshold:memory,offering.label:topology.k8s.aws/zone-id,offering.capacity:pods,offering.overhead:memory
m7i.large,amd64,linux,2,8Gi,29,20Gi,,us-east-1a,on-demand,0.1008,,,,,,data,"""""",,574Mi,10m,100Mi,use1-az1,,
p5.48xlarge,,,192,2Ti,,,8,us-east-1b,reserved,0,,cr-1,4,TRUE,price unavailable,,,32,,,,,58,700Mi
m7i.large,,,,,,,,us-east-1a,spot,0.0412,0.05,,,false,,,,,,,,,,

rack.big,arm64,,64,512Gi,,,,,,,,,,,,,,,,,,,,
`
	c, err := instancetypes.ReadCSV(strings.NewReader(text))
	require.NoError(t, err)

	m := machine("m7i.large", "cpu=2 memory=8Gi pods=29 ephemeral-storage=20Gi", "on-demand@us-east-1a=0.1008 spot@us-east-1a=0.0412")
	m.Labels = map[string]string{"team": "data", "example.com/empty": ""}
	m.Overhead = instancetypes.Overhead{
		KubeReserved: resources("memory=574Mi"), SystemReserved: resources("cpu=10m"), EvictionThreshold: resources("memory=100Mi"),
	}
	m.Offerings[0].Labels = map[string]string{"topology.k8s.aws/zone-id": "use1-az1"}
	m.Offerings[1].InterruptionRate = 0.05
	p := machine("p5.48xlarge", "cpu=192 memory=2Ti nvidia.com/gpu=8 vpc.amazonaws.com/efa=32", "reserved@us-east-1b/cr-1=0x4")
	p.Offerings[0].Unavailable = true
	p.Offerings[0].Estimated = []string{"price", "unavailable"}
	p.Offerings[0].Capacity, p.Offerings[0].Overhead = resources("pods=58"), resources("memory=700Mi")
	rack := machine("rack.big", "cpu=64 memory=512Gi", "")
	rack.Labels = map[string]string{"kubernetes.io/arch": "arm64"}
	sameCatalog(t, catalog(t, m, p, rack), c)
	assert.Empty(t, c.Provenance())
}

func TestReadCSVAccepts(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"only what must be", "name,cpu,memory\nm,1,1Gi\n", "m:"},
		{"no newline at the end", "name,cpu,memory\nm,1,1Gi", "m:"},
		{"any order of columns", "price,zone,memory,capacityType,cpu,name\n0.1,a,1Gi,spot,1,m\n", "m: spot@a=0.1"},
		{"headings in other cases", "Name,CPU,Memory,Zone,CapacityType,Price\nm,1,1Gi,a,spot,0.1\n", "m: spot@a=0.1"},
		{"blanks around cells", " name , cpu , memory , zone , capacityType , price \n m , 1 , 1Gi , a , spot , 0.1 \n", "m: spot@a=0.1"},
		{"a byte order mark, and DOS lines", "\xef\xbb\xbfname,cpu,memory\r\nm,1,1Gi\r\n", "m:"},
		{"quotation marks", "\"name\",\"cpu\",\"memory\"\n\"m\",\"1\",\"1Gi\"\n", "m:"},
		{"the machine described in its second row", "name,cpu,memory,zone,capacityType,price\nm,,,a,spot,0.1\nm,1,1Gi,b,spot,0.2\n", "m: spot@a=0.1 spot@b=0.2"},
		{"the machine described twice, alike", "name,cpu,memory,zone,capacityType,price\nm,1,1Gi,a,spot,0.1\nm,1,1Gi,b,spot,0.2\n", "m: spot@a=0.1 spot@b=0.2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadCSV(strings.NewReader(tc.text))
			require.NoError(t, err)
			assert.Equal(t, []string{tc.want}, listing(c))
		})
	}
}

func TestReadCSVFaults(t *testing.T) {
	const head = "name,cpu,memory,zone,capacityType,price,interruptionRate,reservationID,reservationCount,unavailable\n"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"the catalog is empty"}},
		{"headings alone", head, []string{"the catalog is empty"}},
		{"no name", "cpu,memory\n1,1Gi\n", []string{"line 1, column 1: heading: there is no column name"}},
		{"unknown headings", "name,cpus,memory,label:,volume:x\nm,1,1Gi,,\n", []string{
			`line 1, column 6: heading: "cpus": is not a known column`,
			`line 1, column 18: heading: "label:": is not a known column`,
			`line 1, column 25: heading: "volume:x": is not a known column`,
		}},
		{"a heading twice", "name,cpu,CPU,memory\nm,1,1,1Gi\n", []string{`line 1, column 10: heading: "CPU": stands here twice`}},
		{"a heading by its other name", "name,cpu,capacity:memory,label:kubernetes.io/arch\n", []string{
			`heading: "capacity:memory": has a column of its own, memory`, `heading: "label:kubernetes.io/arch": has a column of its own, arch`,
		}},
		{"a row too short", "name,cpu,memory\nm,1\nn,1,1Gi\n", []string{"line 2, column 1: the row has 2 cells, but there are 3 headings"}},
		{"a quotation mark too many", "name,cpu,memory\nm,1\"2,1Gi\n", []string{`line 2, column 4: is not CSV: bare " in non-quoted-field`}},
		{"a quotation that does not end", "name,cpu,memory\nm,\"1,1Gi\n", []string{`is not CSV: extraneous or missing " in quoted-field`}},
		{"bad cells", head + "m,two,1Gi,a,CHEAP,NaN,often,,,maybe\n", []string{
			`line 2, column 13: instance type m: capacityType: "CHEAP": want reserved, spot, on-demand or`,
			`line 2, column 19: instance type m: price: "NaN": want a decimal number`,
			`line 2, column 23: instance type m: interruptionRate: "often": is not a number`,
			`line 2, column 31: instance type m: unavailable: "maybe": must be true or false`,
			`line 2, column 3: instance type m: cpu: "two": is not a quantity`,
		}},
		{"negative price", head + "m,1,1Gi,a,spot,-1,,,,\n", []string{`line 2, column 16: instance type m: price: "-1": must not be negative`}},
		{"no price", head + "m,1,1Gi,a,spot,,,,,\n", []string{"line 2, column 1: instance type m: price: is missing; write 0 if it is free"}},
		{"no zone", head + "m,1,1Gi,,spot,1,,,,\n", []string{"line 2, column 1: instance type m: offerings[0].zone: must not be empty"}},
		{"half a machine", head + "m,1,1Gi,a,reserved,1,,x,1.5,\n", []string{`reservationCount: "1.5": must be a whole number`}},
		{"rate", head + "m,1,1Gi,a,spot,1,2,,,\n", []string{"line 2, column 1: instance type m: offerings[0].interruptionRate: 2: want a share from 0 to 1"}},
		{"rate that is no number", head + "m,1,1Gi,a,spot,1,NaN,,,\n", []string{"interruptionRate: NaN: want a share"}},
		{"an offering twice", head + "m,1,1Gi,a,spot,1,,,,\nm,,,a,spot,1,,,,\n", []string{`line 3, column 1: instance type m: offerings[1]: "a spot": is the same`}},
		{"rows that disagree", head + "m,1,1Gi,a,spot,1,,,,\nm,2,1Gi,b,spot,1,,,,\n", []string{`line 3, column 3: instance type m: cpu: "2": differs from "1" in line 2`}},
		{"rows without a name", head + ",1,1Gi,a,spot,1,,,,\n,1,1Gi,a,spot,1,,,,\n", []string{
			"line 2, column 1: name: must not be empty", "line 3, column 1: name: must not be empty",
		}},
		{"nothing but a name", head + "m,,,,,,,,,\n", []string{"line 2, column 1: instance type m: capacity.cpu: is missing", "line 2, column 1: instance type m: capacity.memory: is missing"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := instancetypes.ReadCSV(strings.NewReader(tc.text))
			require.Error(t, err)
			assert.Nil(t, c)
			assert.True(t, strings.HasPrefix(err.Error(), "reading CSV catalog: "), err)
			got := lines(err)
			require.Len(t, got, len(tc.want), "%q", got)
			for i, want := range tc.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
}

func TestReadCSVGivesUpAfterManyFaults(t *testing.T) {
	text := "name,cpu,memory\n" + strings.Repeat("m\n", 1_000_000)
	_, err := instancetypes.ReadCSV(strings.NewReader(text))
	require.ErrorContains(t, err, "and at least 9900 more faults")
	assert.Len(t, faultsOf(err), 100)
}

func TestWriteCSV(t *testing.T) {
	it := machine("m", "cpu=2 memory=8Gi nvidia.com/gpu=1", "spot@a=0.0412 reserved@b/cr-1=0x3")
	it.Labels = map[string]string{"team": "data", "note": ""}
	it.Overhead.KubeReserved = resources("memory=1000Mi")
	it.Offerings[0].InterruptionRate = 0.05
	it.Offerings[1].Labels = map[string]string{"topology.k8s.aws/zone-id": "use1-az2"}
	var out bytes.Buffer
	require.NoError(t, catalog(t, it, machine("n", "cpu=1 memory=1Gi", "")).WriteCSV(&out))
	assert.Equal(t, strings.Join([]string{
		"name,arch,os,cpu,memory,pods,gpu,zone,capacityType,price,interruptionRate,reservationID,reservationCount,label:note,label:team,offering.label:topology.k8s.aws/zone-id,reserved:memory",
		`m,amd64,linux,2,8Gi,,1,a,spot,0.0412,0.05,,,"""""",data,,1000Mi`,
		`m,amd64,linux,2,8Gi,,1,b,reserved,0,,cr-1,3,"""""",data,use1-az2,1000Mi`,
		`n,amd64,linux,1,1Gi,,,,,,,,,,,,`,
		"",
	}, "\n"), out.String())
}

func TestCSVRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 200 {
		want := randomCatalog(t, r)
		var first, second bytes.Buffer
		require.NoError(t, want.WriteCSV(&first))
		got, err := instancetypes.ReadCSV(bytes.NewReader(first.Bytes()))
		require.NoError(t, err, first.String())
		sameCatalog(t, want, got)
		require.NoError(t, got.WriteCSV(&second))
		assert.Equal(t, first.String(), second.String())
	}
}

func FuzzReadCSV(f *testing.F) {
	fuzzReader(f, []string{
		"name,cpu,memory\nm,1,1Gi\n", "name,cpu,memory,zone,capacityType,price\nm,1,1Gi,a,spot,0.1\nm,,,b,on-demand,0.2\n",
		"name\n\"", "#\n", ",,,\n", "name,cpu,memory,label:a,capacity:b/c,reserved:cpu\nm,1,1Gi,\"\"\"\"\"\",1,1m\n",
		"name,cpu,memory,offering.label:x,zone,price,capacityType,estimated\nm,1,1Gi,y,a,0,reserved,price\n",
	}, instancetypes.ReadCSV, (*instancetypes.Catalog).WriteCSV, instancetypes.ReadCSV)
}
