package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// tabled writes a plan of hand against the market of testdata.
func tabled(t *testing.T, plan *scheduling.Plan) string {
	t.Helper()
	c, err := clouds.Read("testdata/market.json")
	require.NoError(t, err)
	var b bytes.Buffer
	writeTable(&b, view{width: 120, stopped: "--timeout"}, &problem{Snapshot: &manifest.Snapshot{Problem: scheduling.Problem{Catalog: c}}}, plan)
	return b.String()
}

// launch buys a machine of the market.
func launch(options ...scheduling.LaunchOption) scheduling.Launch {
	return scheduling.Launch{
		NodePool: "p", Options: options, Price: options[0].Price, Pods: []string{"shop/a"},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}
}

// option is one way to buy a machine.
func option(name, zone string, ct offerings.CapacityType, price string) scheduling.LaunchOption {
	return scheduling.LaunchOption{InstanceType: name, Zone: zone, CapacityType: ct, Price: offerings.MustPrice(price)}
}

func TestHeadlines(t *testing.T) {
	price := offerings.MustPrice
	launches := []scheduling.Launch{launch(option("small", "a", offerings.Spot, "0.04"))}
	existing := []scheduling.Assignment{{Node: "n1", Pods: []string{"shop/b"}}}
	tests := map[string]struct {
		plan scheduling.Plan
		want string
	}{
		"nothing to place": {scheduling.Plan{}, "Nothing to place: the input has no pending pods."},
		"nothing placed":   {scheduling.Plan{Summary: scheduling.Summary{Pods: 3}}, "None of 3 pods can be placed: reasons and fixes are below."},
		"nothing to buy": {
			scheduling.Plan{Existing: existing, Summary: scheduling.Summary{Pods: 1, Placed: 1}},
			"1 pod placed on 1 existing node: nothing to launch.",
		},
		"some placed": {
			scheduling.Plan{Launches: launches, Existing: existing, Summary: scheduling.Summary{Pods: 5, Placed: 2, Nodes: 1, PricePerHour: price("0.04"), LowerBoundPerHour: price("0.0398"), Gap: 0.005}},
			"2 of 5 pods placed on 1 new node and 1 existing: $0.0400 per hour, $29.20 per month.\n" +
				"Lower bound $0.0398 per hour: this plan is within 0.5% of optimal.",
		},
		"nearly optimal": {
			scheduling.Plan{Launches: launches, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1, PricePerHour: price("0.04"), LowerBoundPerHour: price("0.03999"), Gap: 0.0002}},
			"1 pod placed on 1 new node: $0.0400 per hour, $29.20 per month.\n" +
				"Lower bound $0.0400 per hour: this plan is within 0.1% of optimal.",
		},
		"optimal": {
			scheduling.Plan{Launches: launches, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1, PricePerHour: price("0.04"), Status: scheduling.StatusOptimal}},
			"1 pod placed on 1 new node: $0.0400 per hour, $29.20 per month.\nOptimal: no plan is cheaper.",
		},
		"no bound, and late": {
			scheduling.Plan{Launches: launches, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1, PricePerHour: price("0.04"), Status: scheduling.StatusDeadline}},
			"1 pod placed on 1 new node: $0.0400 per hour, $29.20 per month.\n" +
				"No lower bound on the price is known. The search was stopped by --timeout; more time may find a cheaper one.",
		},
		"a bound of next to nothing": {
			scheduling.Plan{Launches: launches, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1, PricePerHour: price("0.04"), LowerBoundPerHour: 1, Gap: 39999999}},
			"1 pod placed on 1 new node: $0.0400 per hour, $29.20 per month.\n" +
				"No lower bound on the price is known.",
		},
		"large": {
			scheduling.Plan{Launches: launches, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1234, PricePerHour: price("4179.83"), LowerBoundPerHour: price("4179.83")}},
			"1 pod placed on 1,234 new nodes: $4,179.83 per hour, $3,051,276 per month.\nOptimal: no plan is cheaper.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.True(t, strings.HasPrefix(tabled(t, &tt.plan), tt.want+"\n"), tabled(t, &tt.plan))
		})
	}
}

// The first line has the expected price. All other prices of a plan have one base: what is launched adds up to the second
// line, and that is what is compared with the lower bound.
func TestTablesHaveOneBase(t *testing.T) {
	t.Parallel()
	args := []string{"plan", "-f", services, "--effort", "fast", "--node-overhead", "0.05/hour"}
	r := run(t, append(args, "-o", "wide")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	s := decodePlan(t, run(t, append(args, "-o", "json")...).stdout).Summary
	require.Contains(t, strings.SplitN(r.stdout, "\n", 2)[0], figures.USD(s.AfterScheduling.ExpectedPerHour)+" per hour")
	require.Contains(t, strings.Split(r.stdout, "\n")[1], "If every pod is scheduled as shown: "+figures.USD(s.ExpectedPerHour)+" per hour")
	sum := 0.0
	for _, row := range regexp.MustCompile(`(?m)^  (\d+) +\S+ +(?:spot|on-demand) +\S+ +\S+ +(\d\.\d{4}) `).FindAllStringSubmatch(r.stdout, -1) {
		count, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		each, err := strconv.ParseFloat(row[2], 64)
		require.NoError(t, err)
		sum += float64(count) * each
	}
	require.InDelta(t, s.ExpectedPerHour.USD(), sum, 0.001)
	require.GreaterOrEqual(t, s.AfterScheduling.ExpectedPerHour, s.ExpectedPerHour)
	require.LessOrEqual(t, s.LowerBoundPerHour, s.ExpectedPerHour)
}

func TestWhy(t *testing.T) {
	spot, onDemand := option("small", "a", offerings.Spot, "0.04"), option("small", "a", offerings.OnDemand, "0.1")
	risky := spot
	risky.InterruptionRate = 0.175
	reserved := option("small", "a", offerings.Reserved, "0")
	reserved.ReservationID = "cr-1"
	tests := map[string]struct {
		options []scheduling.LaunchOption
		want    string
	}{
		"alone":           {[]scheduling.LaunchOption{spot}, "60% below its on-demand price ($0.1000); no other offering fits these pods"},
		"one type":        {[]scheduling.LaunchOption{spot, onDemand}, "60% below its on-demand price ($0.1000); no other instance type fits these pods"},
		"interruptions":   {[]scheduling.LaunchOption{risky}, "60% below its on-demand price ($0.1000); 18% are interrupted in a month; no other offering fits these pods"},
		"a dearer type":   {[]scheduling.LaunchOption{spot, option("large", "a", offerings.Spot, "0.09")}, "60% below its on-demand price ($0.1000); next type: large spot a at $0.0900 (+125%)"},
		"an equal type":   {[]scheduling.LaunchOption{spot, option("large", "b", offerings.Spot, "0.04")}, "60% below its on-demand price ($0.1000); next type: large spot b at $0.0400, the same"},
		"a cheaper type":  {[]scheduling.LaunchOption{risky, option("large", "a", offerings.Spot, "0.03")}, "60% below its on-demand price ($0.1000); 18% are interrupted in a month; next type: large spot a at $0.0300 (-25%)"},
		"on demand":       {[]scheduling.LaunchOption{onDemand, option("large", "a", offerings.OnDemand, "0.2")}, "on-demand required; next type: large on-demand a at $0.2000 (+100%)"},
		"by choice":       {[]scheduling.LaunchOption{onDemand, option("large", "a", offerings.Spot, "0.2")}, "next type: large spot a at $0.2000 (+100%)"},
		"reserved":        {[]scheduling.LaunchOption{reserved, spot}, "reservation cr-1 is prepaid; no other instance type fits these pods"},
		"free":            {[]scheduling.LaunchOption{reserved, option("large", "a", offerings.Spot, "0.2")}, "reservation cr-1 is prepaid; next type: large spot a at $0.2000"},
		"not on sale now": {[]scheduling.LaunchOption{option("gone", "a", offerings.Spot, "0.1")}, "no other offering fits these pods"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := &scheduling.Plan{Launches: []scheduling.Launch{launch(tt.options...)}, Summary: scheduling.Summary{Pods: 1, Placed: 1, Nodes: 1}}
			text := tabled(t, plan)
			require.Contains(t, text, tt.want+"\n")
			if tt.options[0].InstanceType == "gone" {
				require.Contains(t, text, "  -    -  ", "of a machine that the catalog does not have nothing is said")
			}
		})
	}
}

func TestGroups(t *testing.T) {
	a, b := option("small", "a", offerings.Spot, "0.04"), option("small", "b", offerings.Spot, "0.05")
	plan := &scheduling.Plan{Launches: []scheduling.Launch{launch(a), launch(a), launch(b), launch(a)}}
	for i := range plan.Launches {
		plan.Launches[i].Pods = []string{fmt.Sprintf("shop/p-%d", i), fmt.Sprintf("shop/q-%d", i)}
	}
	text := tabled(t, plan)
	require.Contains(t, text, "  3      small          spot      a     p         0.0400       50%  0%      shop/p-0, shop/p-1, shop/p-3, and 3 more\n")
	require.Contains(t, text, "  1      small          spot      b     p         0.0500       50%  0%      shop/p-2, shop/q-2\n")
}

func TestLongListsAreCut(t *testing.T) {
	plan := &scheduling.Plan{Summary: scheduling.Summary{Pods: 100, Placed: 40}}
	for i := range 40 {
		plan.Existing = append(plan.Existing, scheduling.Assignment{Node: fmt.Sprintf("n%02d", i), Pods: []string{fmt.Sprintf("shop/p-%d", i)}})
	}
	u := scheduling.Unschedulable{Pod: "shop/x", Message: "no place", Fixes: []string{"tolerate a", "ask for less"}}
	for i := range 9 {
		u.Reasons = append(u.Reasons, scheduling.ReasonCount{Count: 20 - i, Detail: fmt.Sprintf("reason %d", i)})
	}
	plan.Unschedulable = append(plan.Unschedulable, u, scheduling.Unschedulable{Pod: "shop/y", Message: "for no reason given"})
	for i := range 9 {
		plan.Warnings = append(plan.Warnings, scheduling.Warning{Object: fmt.Sprintf("shop/w-%d", i), Message: "no memory request"})
	}
	plan.Warnings = append(plan.Warnings, scheduling.Warning{Object: "a", Message: "assumed", Note: true}, scheduling.Warning{Object: "shop/z", Message: "odd"})
	text := tabled(t, plan)
	require.Contains(t, text, "  n19          shop/p-19\n  and 20 more  (-o wide lists them all)\n")
	require.NotContains(t, text, "n20")
	require.Contains(t, text, "NOT PLACED\n  shop/x (1 pod)\n    20 offerings  reason 0\n")
	require.Contains(t, text, "    16 offerings  reason 4\n                  and 4 more reasons\n    fix: tolerate a\n    fix: ask for less\n  shop/y (1 pod)\n    for no reason given\n")
	require.Contains(t, text, "WARNINGS\n  shop/w-0, shop/w-1, shop/w-2, shop/w-3, shop/w-4, and 4 more: no memory request\n  shop/z: odd\n\nNOTES\n  a: assumed\n")
}

func TestPodsRefusedAlikeAreToldOnce(t *testing.T) {
	s, err := manifest.Loader{}.Load("testdata/shop.yaml")
	require.NoError(t, err)
	plan := &scheduling.Plan{Summary: scheduling.Summary{Pods: 3}}
	for _, p := range []string{"shop/huge-0", "shop/huge-1", "shop/web-0"} {
		plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: p, Message: "too large"})
	}
	var b bytes.Buffer
	writeTable(&b, view{width: 120, stopped: "--timeout"}, &problem{Snapshot: s}, plan)
	require.Contains(t, b.String(), "NOT PLACED\n  shop/huge (2 pods)\n    too large\n  shop/web (1 pod)\n    too large\n")
}

func TestCapacityTypesAreAddedUp(t *testing.T) {
	plan := &scheduling.Plan{
		Launches: []scheduling.Launch{launch(option("small", "a", offerings.Spot, "0.04")), launch(option("small", "a", offerings.OnDemand, "0.1"))},
		Summary: scheduling.Summary{Pods: 2, Placed: 2, Nodes: 2, PricePerHour: offerings.MustPrice("0.14"), CapacityTypes: []scheduling.Share{
			{Name: "on-demand", Nodes: 1, PricePerHour: offerings.MustPrice("0.1")}, {Name: "spot", Nodes: 1, PricePerHour: offerings.MustPrice("0.04")},
		}},
	}
	text := tabled(t, plan)
	require.Contains(t, text, "By capacity type: on-demand $0.1000 (1 node), spot $0.0400 (1 node).\nThe same nodes on demand: $0.2000 per hour; the plan is 30% cheaper.\n")
}
