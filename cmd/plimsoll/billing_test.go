package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// A plan draws on a savings plan for the types that it covers. Its NodeClaims do not name it, and verify accepts it with the
// settings that it states.
func TestPlanDrawsOnCommitments(t *testing.T) {
	file := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: 5, factor: 0.7}, {id: old, kind: savings-plan, amount: 5, factor: 0.1, ends: 2020-01-01}, {id: paris, kind: savings-plan, amount: 1, factor: 0.7, region: eu-west-3}]\n")
	input := temp(t, "input.yaml", agent+onePod+placed("NodePool", "p", "karpenter.sh/capacity-type: on-demand"))
	r := run(t, "plan", "-f", input, "--billing", file, "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	best := plan.Launches[0].Options[0]
	require.Equal(t, "sp-1", best.ReservationID)
	require.True(t, best.Commitment)
	require.Zero(t, best.Price)
	require.Contains(t, plan.Warnings, scheduling.Warning{Note: true, Object: file, Message: "left out: commitment old, which ended on 2020-01-01"})

	made := temp(t, "plan.json", r.stdout)
	r = run(t, "verify", "-f", input, "--plan", made)
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(t, "plan", "-f", input, "--billing", file)
	require.Contains(t, r.stdout, "COMMITMENTS\n  COMMITMENT  UNIT          COMMITTED")
	require.Contains(t, r.stdout, "commitment sp-1 is prepaid")
	r = run(t, "plan", "-f", input, "--billing", file, "-o", "nodeclaims")
	require.NotContains(t, r.stdout, "reservation")
}

// Steps claim no saving that the bill does not have: where covered nodes go and no other takes their place, they end.
func TestStepsEndWhereCommitmentsPayAnyway(t *testing.T) {
	all := waste("--effort", "fast", "-o", "json")
	saved := func(amount string) (steps int, saving offerings.Price) {
		file := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: "+amount+", factor: 0.72}]\n")
		r := run(t, append(all, "--billing", file)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		var plan disruption.ConsolidationPlan
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &plan))
		return len(plan.Steps), plan.Summary.PricePerHourBefore - plan.Summary.PricePerHourAfter
	}
	few, little := saved("0.5")
	some, less := saved("2")
	require.Less(t, some, few)
	require.Less(t, less, little)
	// List prices are 3.6816 per hour, of which 2 / 0.72 are covered.
	require.LessOrEqual(t, less, offerings.MustPrice("0.9039"))
}

// Pods are not moved off nodes that are paid anyway, unless the step saves at least a cent a month: a smaller node of the same
// commitment saves nothing.
func TestStepsUnderCommitmentsSaveMoney(t *testing.T) {
	cent := offerings.MustPrice("0.01")
	for name, commitments := range map[string]string{
		"all":       "{id: all, kind: savings-plan, amount: 5, factor: 0.7}",
		"some":      "{id: some, kind: savings-plan, amount: 1.5, factor: 0.7}",
		"instances": "{id: web, kind: reserved-instances, amount: 8, instanceType: m5.large, region: us-east-1, sizeFlexible: true}",
	} {
		file := temp(t, "billing.yaml", "commitments: ["+commitments+"]\n")
		r := run(t, waste("--billing", file, "--node-overhead", "0", "-o", "json")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		for _, s := range moveset(t, r.stdout).Steps {
			if s.Reason == disruption.Underutilized {
				require.GreaterOrEqual(t, s.SavingPerHour*730, cent, "%s: %v", name, s.Drain)
			}
		}
	}
}

// twoLargeNodes is a cluster whose two pods would fit on one small node.
const twoLargeNodes = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}
---
apiVersion: v1
kind: Node
metadata:
  name: first
  labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true", karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: large, topology.kubernetes.io/zone: a}
status: {capacity: {cpu: "4", memory: 16Gi, pods: "40"}, allocatable: {cpu: "4", memory: 16Gi, pods: "40"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata:
  name: second
  labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true", karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: large, topology.kubernetes.io/zone: a}
status: {capacity: {cpu: "4", memory: 16Gi, pods: "40"}, allocatable: {cpu: "4", memory: 16Gi, pods: "40"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: one, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}
spec: {nodeName: first, containers: [{name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: two, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}
spec: {nodeName: second, containers: [{name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
status: {phase: Running}
`

// A capacity reservation of four nodes at 0.20, one of them used outside of the input, is charged 0.60 whichever of the others the nodes of
// the input use: a further node in it costs nothing, the removal of one saves nothing, and a savings plan covers unused ones.
func TestCapacityReservationsAreBilled(t *testing.T) {
	reservation := temp(t, "reservations.json", `{"CapacityReservations": [{"CapacityReservationId": "cr-1", "InstanceType": "large", "AvailabilityZone": "a",
		"TotalInstanceCount": 4, "AvailableInstanceCount": 1, "State": "active", "InstanceMatchCriteria": "open"}]}`)
	bill := func(plan *billing.Statement) []string {
		used := func(b *billing.Bill) string {
			return fmt.Sprintf("%v: %v used, %v unused", b.PerHour, b.Reservations[0].Used, b.Reservations[0].Unused)
		}
		return []string{used(&plan.Before), used(&plan.After)}
	}
	of := func(command string, more ...string) string {
		r := run(t, slices.Concat([]string{command, "--catalog", "testdata/market.json", "--node-overhead", "0", "--billing", reservation}, more)...)
		require.Equal(t, exitOK, r.code, r.stderr+r.stdout)
		return r.stdout
	}
	two := temp(t, "cluster.yaml", twoLargeNodes)
	moves := moveset(t, of("consolidate", "-f", two, "-o", "json"))
	require.Empty(t, moves.Steps)
	require.Equal(t, []string{"0.6: 2 used, 1 unused", "0.6: 2 used, 1 unused"}, bill(moves.Bill))
	require.Contains(t, of("consolidate", "-f", two), "List prices contain 1 unused node of capacity reservations.")

	empty, _, _ := strings.Cut(twoLargeNodes, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: two")
	moves = moveset(t, of("consolidate", "-f", temp(t, "cluster.yaml", empty), "-o", "json"))
	require.Len(t, moves.Steps, 1)
	require.Equal(t, disruption.Empty, moves.Steps[0].Reason)
	require.Equal(t, []offerings.Price{0}, moves.Bill.Steps)
	require.Equal(t, []string{"0.6: 2 used, 1 unused", "0.6: 1 used, 2 unused"}, bill(moves.Bill))

	const large = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: main, resources: {requests: {cpu: 3800m}}}]}\n"
	three := twoLargeNodes + fmt.Sprintf(large, "three")
	for pods, want := range map[string][]string{
		three:                              {"0.6: 2 used, 1 unused", "0.6: 3 used, 0 unused"},
		three + fmt.Sprintf(large, "four"): {"0.6: 2 used, 1 unused", "0.8: 3 used, 0 unused"},
	} {
		input := temp(t, "pending.yaml", pods)
		made := of("plan", "-f", input, "-o", "json")
		plan := decodePlan(t, made)
		require.Equal(t, want, bill(plan.Bill))
		require.Equal(t, plan.Bill.After.PerHour-plan.Bill.Before.PerHour, plan.Summary.PricePerHour)
		of("verify", "-f", input, "--plan", temp(t, "plan.json", made))
	}

	input := temp(t, "pending.yaml", three)
	paid := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: 0.3, factor: 0.5}]\n")
	plan := decodePlan(t, of("plan", "-f", input, "--billing", paid, "-o", "json"))
	require.Equal(t, []string{"0.3: 2 used, 1 unused", "0.3: 3 used, 0 unused"}, bill(plan.Bill))
	require.Equal(t, "cr-1/unused-1", plan.Bill.Before.Commitments[0].Nodes[0].Node)

	// A bill without the unused node is refused.
	list := offerings.MustPrice("0.4")
	plan.Bill.Before = billing.Bill{PerHour: list, PerMonth: 730 * list, List: list, Uncovered: list}
	forged, err := json.Marshal(plan)
	require.NoError(t, err)
	r := run(t, "verify", "-f", input, "--catalog", "testdata/market.json", "--billing", reservation, "--billing", paid, "--plan", temp(t, "plan.json", string(forged)))
	require.NotEqual(t, exitOK, r.code)
	require.Contains(t, r.stderr, "bill: list: is 0.4, want 0.6")
	require.Contains(t, r.stderr, "reservations: [], but")
}

// The bill is the same in all outputs, and adds up: list prices less discounts less covered usage, and the commitments.
func TestBillOfAllNodes(t *testing.T) {
	file := temp(t, "billing.yaml", "discounts: [{percent: 10}]\ncommitments: [{id: sp-1, kind: savings-plan, amount: 0.05, factor: 0.7}]\n")
	input := temp(t, "cluster.yaml", twoLargeNodes)
	flags := []string{"-f", input, "--catalog", "testdata/market.json", "--node-overhead", "0.01/hour", "--billing", file}
	of := func(command string, more ...string) string {
		r := run(t, slices.Concat([]string{command}, flags, more)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		return r.stdout
	}
	var plan disruption.ConsolidationPlan
	require.NoError(t, json.Unmarshal([]byte(of("consolidate", "-o", "json")), &plan))
	for _, b := range []billing.Bill{plan.Bill.Before, plan.Bill.After} {
		require.Equal(t, b.List, b.Discounts+b.Covered+b.Uncovered)
		require.InDelta(t, float64(b.List)/10, float64(b.Discounts), 100)
		require.Equal(t, b.PerHour, b.Committed+b.Uncovered)
		require.Equal(t, b.PerMonth, 730*b.PerHour)
		require.Equal(t, offerings.MustPrice("0.05"), b.Committed)
	}
	require.NotEmpty(t, plan.Bill.Before.Commitments[0].Nodes)
	require.Positive(t, plan.Bill.Before.Uncovered)

	after := plan.Bill.After
	require.Contains(t, of("consolidate"), "Discounts take "+figures.USD(after.Discounts)+" per hour")
	require.Regexp(t, `(?m)^\| bill \| .* \| `+regexp.QuoteMeta(figures.Monthly(after.PerHour))+` \|$`, of("report", "-o", "markdown"))
	require.Contains(t, of("report", "-o", "html"), figures.Monthly(after.PerHour)+"</td>")

	var cases whatif.Cases
	require.NoError(t, json.Unmarshal([]byte(of("whatif", "--case", "pod: -f testdata/nopool.yaml", "-o", "json")), &cases))
	base, other := cases.Cases[0], cases.Cases[1]
	require.Equal(t, after.Committed, base.Bill.Committed)
	overhead := offerings.MustPrice("0.01") * offerings.Price(other.Nodes-base.Nodes)
	require.Equal(t, other.Bill.PerHour-base.Bill.PerHour+overhead, other.DifferencePerHour)
	require.Contains(t, of("whatif"), "LIST $/MONTH  BILL $/MONTH")
}

// All commands state the same bill of the same nodes, also where steps are left out because of commitments, and whatif compares the bills of
// cases with other commitments.
func TestCommandsAgreeOnTheBill(t *testing.T) {
	file := temp(t, "billing.yaml", "commitments: [{id: sp-1, kind: savings-plan, amount: 2, factor: 0.72}]\n")
	of := func(into any, args ...string) {
		if args[0] != "plan" {
			args = append(args, "--now", "2026-11-21T09:00:00Z")
		}
		r := run(t, append(args, "-f", "../../examples/consolidate", "--effort", "fast", "-o", "json")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), into))
	}
	var plan, consolidation, report struct{ Bill billing.Statement }
	of(&consolidation, "consolidate", "--billing", file)
	of(&plan, "plan", "--billing", file)
	require.Equal(t, consolidation.Bill.Before, plan.Bill.Before)
	of(&report, "report", "--billing", file)
	require.Equal(t, consolidation, report)

	var cases whatif.Cases
	of(&cases, "whatif", "--case", "paid: --billing "+file)
	base, paid := cases.Cases[0], cases.Cases[1]
	require.Equal(t, &consolidation.Bill.After, paid.Bill)
	require.Equal(t, []any{base.Bill.List, 0}, []any{base.Bill.PerHour, len(base.Bill.Commitments)})
}

// Discounts come off the prices of the catalog. One that applies to no offering is warned of.
func TestDiscountsOfBilling(t *testing.T) {
	file := temp(t, "billing.yaml", "discounts: [{percent: 50, capacityTypes: [on-demand]}, {percent: 10, families: [nowhere]}]\n")
	input := temp(t, "input.yaml", agent+onePod+placed("NodePool", "p", "karpenter.sh/capacity-type: on-demand"))
	price := func(flags ...string) offerings.Price {
		r := run(t, append([]string{"plan", "-f", input, "-o", "json"}, flags...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		return decodePlan(t, r.stdout).Summary.PricePerHour
	}
	require.Equal(t, price()/2, price("--billing", file))
	r := run(t, "plan", "-f", input, "--billing", file)
	require.Contains(t, r.stdout+r.stderr, "discounts[1]: left out: no offering of catalog ec2/us-east-1 matches it")
}

// A commitment that covers nothing, e.g. because of a wrong name, is paid: it is in the bill, and a warning names the field. Prices that are
// not known and values that are probably not meant have warnings, too.
func TestCommitmentsThatCoverNothing(t *testing.T) {
	file := temp(t, "billing.yaml", `discounts: [{percent: 0.12}, {percent: 99.5, families: [m5]}]
commitments:
- {id: paris, kind: savings-plan, amount: 1, factor: 0.7, region: eu-west-3}
- {id: typo, kind: reserved-instances, amount: 2, instanceType: m5.lrge, costPerHour: 0.1}
- {id: family, kind: savings-plan, amount: 0.5, factor: 0.7, families: [mm5]}
- {id: zone, kind: reserved-instances, amount: 2, instanceType: m5.large, zone: us-east-1z}
- {id: rates, kind: savings-plan, amount: 0.25, rates: [{instanceType: m5.large, price: 7}]}
`)
	r := run(t, "plan", "-f", quickstart, "--billing", file, "-o", "json")
	require.Equal(t, exitOK, r.code, r.stderr)
	plan := decodePlan(t, r.stdout)
	require.Equal(t, []any{offerings.MustPrice("1.85"), 1}, []any{plan.Bill.After.Committed, plan.Bill.After.Unpriced})
	const nothing = ": matches no on-demand offering of catalog ec2/us-east-1, so that it covers no node"
	const paid = "; it is in the bill all the same, because it is paid"
	for _, message := range []string{
		"commitment paris: region: eu-west-3" + nothing + paid,
		"commitment typo: instanceType: m5.lrge" + nothing + paid,
		"commitment family: families: mm5" + nothing + paid,
		"commitment zone: zone: us-east-1z" + nothing,
		"commitment zone: costPerHour: is not stated, so that the bill is without the price of the commitment",
		"commitment rates: rates: none is below a list price of catalog ec2/us-east-1, so that it covers no node" + paid,
		"discounts[0].percent: 0.12: is less than one percent; 12 stands for 12 %",
	} {
		require.Contains(t, plan.Warnings, scheduling.Warning{Object: file, Message: message})
	}
	require.Contains(t, r.stdout, "less than a tenth of them, such as m5.12xlarge on-demand in us-east-1a: price 0.01152 instead of 2.304 USD per hour")
}

func TestFaultyBilling(t *testing.T) {
	for text, message := range map[string]string{
		"commitments: [{id: a, kind: plan, amount: 1}]": "commitment a: kind: plan: want one of",
		"commitments: [{id: a, kind: vcpus, amount: 1, families: [m5], region: us-east-9}, {id: b, kind: savings-plan, amount: 0, factor: 0.5}]": "commitment b: amount: 0: must be more than 0",
		"{commitments: [{id: a, kind: savings-plan, amount: 1, usedElsewhere: 3, factor: 0.5}]}":                                                 "commitment a: usedElsewhere: 3: must not exceed the amount, 1",
		"commitments: [{id: a, kind: reserved-instances, amount: 1.5, instanceType: m5.large}]":                                                  "commitment a: amount: 1.5: must be a whole number of nodes",
		"commitments: [{id: a, kind: savings-plan, amount: 1, factor: 0.0, rates: [{instanceType: m5.large, price: 0.01}]}]":                     "commitments[0].factor: 0: must be more than 0, or left out",
		"commitments: [{id: a, kind: savings-plan, amount: 1e300, factor: 0.5}]":                                                                 "commitments[0].amount: 1e+300: must be a number of units, e.g. 12.5",
	} {
		r := run(t, "plan", "-f", quickstart, "--billing", temp(t, "billing.yaml", text))
		require.Equal(t, exitBadInput, r.code)
		require.Contains(t, r.stderr, message)
	}
	r := run(t, "plan", "-f", quickstart, "--billing", "nowhere.yaml")
	require.Contains(t, r.stderr, "--billing nowhere.yaml: no such file or directory")
}

// bigNodes are a type whose spot price is above the rate of a savings plan, as in aws/karpenter-provider-aws#3860, NodePools for a
// number of such nodes, and pods that need one each.
func bigNodes(t *testing.T, pods int, pools string) (flags []string) {
	t.Helper()
	catalog := temp(t, "catalog.json", `{"version": 1, "provenance": [{"source": "made up", "date": "2026-11-01", "prices": ["on-demand", "spot"]}], "instanceTypes": [{"name": "m5d.12xlarge",
"capacity": {"cpu": "48", "memory": "192Gi", "pods": "200"}, "offerings": [{"zone": "us-east-1a", "capacityType": "on-demand", "price": 2.712}, {"zone": "us-east-1a", "capacityType": "spot", "price": 1.56}]}]}`)
	for i := range pods {
		pools += fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: big-%d}\nspec: {containers: [{name: main, resources: {requests: {cpu: 40}}}]}\n", i)
	}
	return []string{"plan", "-f", temp(t, "input.yaml", pools), "--catalog", catalog, "--node-overhead", "0"}
}

// What users of Karpenter ask for: a savings plan is used while it lasts, then spot (aws/karpenter-provider-aws#3860); clusters
// share a plan (#8173); and spending on demand has a limit in dollars (#2259).
func TestWishesOfKarpenterUsers(t *testing.T) {
	const anyPool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: any}\nspec: {template: {spec: {}}}\n"
	bought := func(text string) (onDemand, spot int) {
		for _, l := range decodePlan(t, text).Launches {
			if l.Options[0].CapacityType == offerings.Spot {
				spot++
			} else {
				onDemand++
			}
		}
		return onDemand, spot
	}
	for elsewhere, want := range map[string][2]int{"0": {2, 1}, "1.4": {1, 2}, "2.8": {0, 3}} {
		file := temp(t, "billing.yaml", "commitments: [{id: plan, kind: savings-plan, amount: 2.8, usedElsewhere: "+elsewhere+", rates: [{instanceType: m5d.12xlarge, price: 1.4}]}]\n")
		r := run(t, append(bigNodes(t, 3, anyPool), "--billing", file, "-o", "json")...)
		require.Equal(t, exitOK, r.code, r.stderr)
		onDemand, spot := bought(r.stdout)
		require.Equal(t, want, [2]int{onDemand, spot}, "used elsewhere: %s", elsewhere)
	}
	pools := strings.Replace(anyPool, "{template: {spec: {}}}", `{weight: 10, limits: {plimsoll-go.github.io/price-per-hour: "6"}, template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}`, 1) +
		"---\n" + strings.Replace(anyPool, "name: any", "name: spot", 1)
	r := run(t, bigNodes(t, 3, pools)...)
	require.Contains(t, r.stdout, "Price limit of NodePool/any: its nodes cost $5.4240 of $6.0000 per hour, without node overhead.\n")

	// The steps of consolidate remove two nodes of $0.2000 and launch one of $0.1000.
	limited := strings.Replace(twoLargeNodes, "spec:\n", "spec:\n  limits: {plimsoll-go.github.io/price-per-hour: \"6\"}\n", 1)
	r = run(t, "consolidate", "-f", temp(t, "cluster.yaml", limited), "--catalog", "testdata/market.json")
	require.Contains(t, r.stdout, "Price limit of NodePool/general: its nodes cost $0.1000 of $6.0000 per hour, without node overhead.\n")
}

// Commitments that are on offer are compared with the nodes that no commitment covers.
func TestCommitmentsToBuy(t *testing.T) {
	const pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: any}\nspec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}\n"
	file := temp(t, "billing.yaml", "offers: [{id: one-year, kind: savings-plan, factor: 0.75}, {id: three-years, kind: reserved-instances, instanceType: m5d.12xlarge, costPerHour: 1.356}]\n")
	r := run(t, append(bigNodes(t, 2, pool), "--billing", file)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Regexp(t, `(?m)^COMMITMENTS ON OFFER\n.*\n  three-years  m5d +2 +5\.4240 +2\.7120 +365 +1,980\n  one-year +m5d +2 +5\.4240 +4\.0680 +548 +990\n`, r.stdout)

	// The plan and the report of a cluster have them, too, and name those that save nothing.
	file = temp(t, "billing.yaml", "offers: [{id: one-year, kind: savings-plan, factor: 0.75}, {id: elsewhere, kind: savings-plan, factor: 0.5, region: mars}]\n")
	flags := []string{"-f", temp(t, "cluster.yaml", twoLargeNodes), "--catalog", "testdata/market.json", "--billing", file}
	for command, pattern := range map[string]string{
		"consolidate": `(?s)COMMITMENTS ON OFFER\n.*\n  one-year .*On offer, without a saving for these nodes: elsewhere\.\n`,
		"report":      `(?s)<h3>Commitments on offer</h3>.*>one-year</td>.*On offer, without a saving for these nodes: elsewhere\.`,
	} {
		r := run(t, append([]string{command}, flags...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Regexp(t, pattern, r.stdout, command)
	}
	r = run(t, append([]string{"report", "-o", "markdown"}, flags...)...)
	require.Regexp(t, `(?m)^\| one-year \| `, r.stdout)
}

// Prices that cannot be meant, an inventory without a count and memory without a unit are told.
func TestSlipsOfPricesAndAmounts(t *testing.T) {
	flags := bigNodes(t, 1, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: any}\nspec: {template: {spec: {}}}\n")
	prices := temp(t, "prices.yaml", "prices: [{capacityType: spot, factor: 88}]\n")
	r := run(t, append(flags, "--prices", prices)...)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, prices+": a price is more than ten times the one of the catalog, or less than a tenth of it: m5d.12xlarge spot in us-east-1a: price 137.28 instead of 1.56 USD per hour\n")

	racks := temp(t, "racks.json", `{"version": 1, "instanceTypes": [{"name": "box", "capacity": {"cpu": "64", "memory": "64Gi", "pods": "50"}, "offerings": [
{"zone": "dc1", "capacityType": "colo", "price": 0.5, "reservationID": "r1"}, {"zone": "dc1", "capacityType": "colo", "price": 0.6, "reservationID": "r2", "reservationCount": 2}]}]}`)
	r = run(t, append(slices.Clone(flags[:3]), "--catalog", racks)...)
	require.Contains(t, r.stdout, "reservation/r1: nothing is left of it, so that no node is launched from its offerings (1): none has a reservationCount above 0\n")
	require.NotContains(t, r.stdout, "reservation/r2")

	r = run(t, append(flags, "--headroom", "cpu=4,memory=32")...)
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.stderr, "memory=32 is 32 bytes: want a unit, such as Mi or Gi")

	plan := temp(t, "plan.json", run(t, append(flags, "--prices", prices, "-o", "json")...).stdout)
	r = run(t, "verify", "-f", flags[2], "--plan", plan)
	require.Equal(t, exitOK, r.code, r.stderr)
	require.Contains(t, r.stdout, "Verified by the prices that the plan names: --catalog "+flags[4]+" --prices "+prices+".\n")
}

// Verify checks the bill that a plan of launches or of steps states.
func TestVerifyJudgesBills(t *testing.T) {
	const file = "../../examples/commitments/billing.yaml"
	for command, input := range map[string]string{"plan": "../../examples/quickstart", "consolidate": "../../examples/consolidate"} {
		made := run(t, command, "-f", input, "--billing", file, "--effort", "fast", "-o", "json")
		require.Equal(t, exitOK, made.code, made.stderr)
		check := func(change func(*billing.Statement)) result {
			var plan map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(made.stdout), &plan))
			var bill billing.Statement
			require.NoError(t, json.Unmarshal(plan["bill"], &bill))
			change(&bill)
			var err error
			plan["bill"], err = json.Marshal(bill)
			require.NoError(t, err)
			changed, err := json.Marshal(plan)
			require.NoError(t, err)
			return run(t, "verify", "-f", input, "--plan", temp(t, "plan.json", string(changed)))
		}
		r := check(func(*billing.Statement) {})
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Contains(t, r.stdout, "The bill is right: $")
		for field, change := range map[string]func(*billing.Statement){
			"bill.before": func(s *billing.Statement) { s.Before.List++ },
			"bill.after": func(s *billing.Statement) {
				s.After.Uncovered, s.After.PerHour = s.After.Uncovered-1, s.After.PerHour-1
			},
		} {
			r = check(change)
			require.Equal(t, exitBadInput, r.code, command)
			require.Contains(t, r.stderr, "error: "+field+": is not the bill of the nodes under the commitments\n", command)
		}
	}
}
