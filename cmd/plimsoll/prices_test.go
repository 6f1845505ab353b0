package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// history is what "aws ec2 describe-spot-price-history" prints: the newest price first, and
// not only of Linux.
const history = `{
    "SpotPriceHistory": [
        {"AvailabilityZone": "us-east-1b", "AvailabilityZoneId": "use1-az1", "InstanceType": "m5.xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.010000", "Timestamp": "2026-11-20T06:16:23+00:00"},
        {"AvailabilityZone": "us-east-1b", "AvailabilityZoneId": "use1-az1", "InstanceType": "m5.xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.500000", "Timestamp": "2026-11-19T06:16:23+00:00"},
        {"AvailabilityZone": "us-east-1b", "AvailabilityZoneId": "use1-az1", "InstanceType": "m5.xlarge", "ProductDescription": "Windows", "SpotPrice": "0.000500", "Timestamp": "2026-11-20T07:16:23+00:00"},
        {"AvailabilityZone": "us-east-1a", "AvailabilityZoneId": "use1-az2", "InstanceType": "m8i.xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.002000", "Timestamp": "2026-11-18T06:16:23+00:00"},
        {"AvailabilityZone": "us-east-1-bos-1a", "InstanceType": "m5.xlarge", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.010000", "Timestamp": "2026-11-20T06:16:23+00:00"}
    ]
}
`

// A spot price history takes the place of the catalog's prices: in the zones with the ids
// that it names, and for types that the catalog has no spot price of.
func TestSpotPriceHistory(t *testing.T) {
	file := temp(t, "spot.json", history)
	only := func(types string) string {
		return temp(t, "input.yaml", agent+onePod+placed("NodePool", "p", "node.kubernetes.io/instance-type: "+types))
	}
	args := []string{"plan", "--prices", file, "-f"}
	r := run(t, append(args, only("m5.xlarge"), "-o", "json")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	best := plan.Launches[0].Options[0]
	require.Equal(t, "us-east-1a", best.Zone, "use1-az1 has the first letter in the catalog, whatever it is called in the account")
	require.Equal(t, "0.01", best.Price.String())
	require.Empty(t, best.Estimated)
	require.Equal(t, []string{"price"}, plan.Launches[0].Options[1].Estimated, "of the other zones it says nothing")
	for i := range plan.Summary.Catalog.Prices {
		if p := &plan.Summary.Catalog.Prices[i]; strings.HasPrefix(p.Source, "github.com/") {
			p.Source = "" // modules with their versions
		}
	}
	require.Equal(t, instancetypes.Origin{Name: "ec2/us-east-1", Prices: []instancetypes.PriceOrigin{
		{CapacityType: "on-demand", Date: "2026-07-06"},
		{CapacityType: "on-demand", Date: "2025-05-28"},
		{CapacityType: "spot", Source: file + ": EC2 spot price history", Date: "2026-11-20"},
		{CapacityType: "spot", Date: "2025-05-28", Estimated: true},
	}}, plan.Summary.Catalog)
	var texts []string
	for _, w := range plan.Warnings {
		texts = append(texts, w.Object+": "+w.Message)
	}
	require.Equal(t, []string{
		file + `: 1 of 3 prices match no offering of catalog ec2/us-east-1, such as m5.xlarge spot in us-east-1-bos-1a`,
		file + `: left out of the EC2 spot price history: prices of "Windows" (1)`,
	}, texts)

	r = run(t, append(args, only("m8i.xlarge"))...)
	require.Contains(t, r.stdout, "m8i.xlarge     spot      us-east-1b  p         0.0092")
	require.Contains(t, r.stdout, "spot as of 2026-11-20 (some estimated as of 2025-05-28).\n")
	require.Contains(t, r.stdout, "The same nodes on demand: $0.2189 per hour at prices as of 2026-07-06; the plan, at spot prices as of 2026-11-20, is 96% cheaper.")

	yaml := temp(t, "spot.yaml", "SpotPriceHistory:\n- {AvailabilityZone: us-east-1a, InstanceType: m5.xlarge, ProductDescription: Linux/UNIX, SpotPrice: '0.003', Timestamp: '2026-11-20T06:16:23+00:00'}\n")
	require.Contains(t, run(t, "plan", "--prices", yaml, "-f", only("m5.xlarge")).stdout, "m5.xlarge      spot      us-east-1a  p         0.0102")
}

// Discounts and prices of one's own are those of what is bought and of what runs.
func TestPricesOfOnesOwn(t *testing.T) {
	t.Parallel()
	price := func(plan *disruption.ConsolidationPlan, node string) string {
		for _, v := range plan.Nodes {
			if v.Node == node {
				return v.InstanceType + " " + v.CapacityType + " " + v.PricePerHour.String()
			}
		}
		return ""
	}
	before := moveset(t, run(t, waste("-o", "json", "--reasons", "empty")...).stdout)
	require.Equal(t, "m5.2xlarge on-demand 0.384", price(before, "ip-10-0-1-42"))
	require.Equal(t, "m5.xlarge on-demand 0.192", price(before, "ip-10-0-3-77"))
	for format, text := range map[string]string{
		"yaml": "prices:\n- {capacityType: on-demand, factor: 0.9}\n- {instanceType: \"m5.*\", capacityType: on-demand, factor: 0.5}\n- {instanceType: m5.xlarge, zone: us-east-1d, capacityType: on-demand, price: 0.1}\n",
		"json": `{"prices": [{"capacityType": "on-demand", "factor": 0.9}, {"instanceType": "m5.*", "capacityType": "on-demand", "factor": "0.5"}, {"instanceType": "m5.xlarge", "zone": "us-east-1d", "capacityType": "on-demand", "price": 0.1}]}`,
		"csv":  "# what we pay\ninstanceType,zone,capacityType,price,factor\n,,on-demand,,0.9\nm5.*,,on-demand,,0.5\nm5.xlarge,us-east-1d,on-demand,0.1,\n",
	} {
		file := temp(t, "ours."+format, text)
		r := run(t, waste("-o", "json", "--reasons", "empty", "--prices", file)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		after := moveset(t, r.stdout)
		require.Equal(t, "m5.2xlarge on-demand 0.192", price(after, "ip-10-0-1-42"), "the last that selects counts alone")
		require.Equal(t, "m5.xlarge on-demand 0.1", price(after, "ip-10-0-3-77"))
		require.Less(t, after.Summary.PricePerHourBefore, before.Summary.PricePerHourBefore)
		require.Contains(t, run(t, waste("--reasons", "empty", "--prices", file)...).stdout, "on-demand as of 2026-07-06 (some as of 2025-05-28, changed by "+file+"), spot as of")
	}

	half := temp(t, "half.csv", "capacityType,factor\non-demand,0.5\n")
	r := run(t, waste("-o", "json", "--reasons", "empty", "--prices", half, "--prices", half)...)
	require.Equal(t, "m5.2xlarge on-demand 0.096", price(moveset(t, r.stdout), "ip-10-0-1-42"), "a file changes what the one before has made")
}

func TestCatalogAtOnesOwnPrices(t *testing.T) {
	file := temp(t, "ours.yaml", "date: 2026-11-01\nprices:\n- {instanceType: small, capacityType: spot, price: 0.01}\n- {instanceType: large, zone: a, capacityType: spot, price: 0.02}\n- {instanceType: large, zone: b, capacityType: spot, price: 0.03}\n")
	args := []string{"catalog", "--catalog", "testdata/market.json", "--prices", file}
	r := run(t, append(args, "--offerings", "--capacity-types", "spot")...)
	require.Equal(t, `INSTANCE TYPE  ARCH   CPU  MEMORY  PODS  DEVICES  CAPACITY  ZONE  $/HOUR   $/MONTH  INTERRUPTED
small          amd64  2    8 GiB   20    -        spot      a     $0.0100  $7.30    5% a month
small          amd64  2    8 GiB   20    -        spot      b     $0.0100  $7.30    5% a month
large          amd64  4    16 GiB  40    -        spot      a     $0.0200  $14.60   5% a month
large          amd64  4    16 GiB  40    -        spot      b     $0.0300  $21.90   5% a month

Prices: testdata/market.json, on-demand as of 2026-11-01, spot as of 2026-11-01.
`, r.stdout, "a price of a type in a zone of the catalog is an offering")
	require.Equal(t, "made up for tests\n  date: 2026-11-01\n  prices: on-demand\n"+file+"\n  date: 2026-11-01\n  covers: 4 spot prices\n  prices: spot\n", run(t, append(args, "--sources")...).stdout)
	var catalog struct {
		Provenance []struct{ Prices []offerings.CapacityType }
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, append(args, "-o", "json")...).stdout), &catalog))
	require.Equal(t, []offerings.CapacityType{"spot"}, catalog.Provenance[1].Prices)
}

func TestFaultyPrices(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"every fault": {
			"prices:\n- {capacityType: OD, factor: -1}\n- {instanceType: m5.large, price: 0.1, factor: 0.2}\n- {family: m5, price: 1e+99}\n- {zone: [a], price: 1}\n- {price: -0.1}\n",
			`prices[3].zone: must be a string or a number
prices[0].capacityType: "OD": want reserved, spot, on-demand or a lower-case label value
prices[0].factor: "-1": must not be negative
prices[1]: needs either a price or a factor
prices[2].family: "m5": is not a known field; there are instanceType, region, zone, zoneID, capacityType, price, factor, date and priceList
prices[2].price: "1e+99": must not exceed 9223372036.854775807 USD per hour
prices[4].price: "-0.1": must not be negative`,
		},
		"cells":              {"instanceType,factor\nm5.large,a lot\nm5.xlarge,5000\n", `line 2, column 1: factor: "a lot": want a decimal number like 0.72` + "\n" + `line 3, column 1: factor: "5000": must not exceed 1000`},
		"no entry":           {"prices: []\n", "there is no entry of prices"},
		"no row":             {"instanceType,factor\n", "there is no price below the headings instanceType, factor"},
		"another file":       {"kind: Pod\n", "kind: is not a known field; there are date and prices"},
		"text of the aws":    {"SPOTPRICEHISTORY\tus-east-1a\tm5.large\tLinux/UNIX\t0.03\t2026-11-20T06:16:23+00:00\n", "must be an object with prices, or CSV with headings; it is a string"},
		"a date":             {"date: tomorrow\nprices: [{price: 1}]\n", `date: "tomorrow": must be a day, as YYYY-MM-DD`},
		"Windows alone":      {strings.ReplaceAll(history, "Linux/UNIX", "Windows"), "the EC2 spot price history has no price of a Linux node"},
		"no price":           {strings.ReplaceAll(history, "0.002000", "free"), `instance type m8i.xlarge: SpotPriceHistory[3]: SpotPrice in us-east-1a: "free": want a decimal number of USD per hour, like 0.0412`},
		"another region":     {strings.NewReplacer("us-east-1", "eu-west-1", "use1", "euw1").Replace(history), "no price matches an offering of catalog ec2/us-east-1: the first one is of m5.xlarge spot in eu-west-1-bos-1a, and the catalog's zones are us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f"},
		"a type that is not": {"instanceType,price\nm5.lage,1\n", "no price matches an offering of catalog ec2/us-east-1: the first one is of m5.lage, and "},
	} {
		t.Run(name, func(t *testing.T) {
			file := temp(t, "prices", tt.text)
			r := run(t, "catalog", "--prices", file)
			require.Equal(t, exitBadInput, r.code)
			for line := range strings.Lines(tt.want) {
				require.Contains(t, r.stderr, "error: --prices "+file+": ")
				require.Contains(t, r.stderr, strings.TrimSpace(line))
			}
		})
	}
	r := run(t, "catalog", "--prices", "none.json")
	require.Equal(t, "error: --prices none.json: no such file or directory\n", r.stderr)
}
