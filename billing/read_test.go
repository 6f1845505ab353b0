package billing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func read(texts ...string) (billing.Input, error) {
	var sources []billing.File
	for i, text := range texts {
		sources = append(sources, billing.File{Name: "file" + string(rune('1'+i)), In: strings.NewReader(text)})
	}
	return billing.Read(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), sources...)
}

func TestReadOwnFormat(t *testing.T) {
	in, err := read(`
commitments:
- {id: compute, kind: savings-plan, amount: 12.5, usedElsewhere: 2.5, factor: 0.72, ends: 2027-06-01}
- {id: web, kind: reserved-instances, amount: 10, instanceType: m5.large, region: us-east-1, sizeFlexible: true, costPerHour: 0.6}
- {id: old, kind: savings-plan, amount: 1, factor: 0.7, ends: 2026-11-30}
`)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "compute", Kind: billing.SavingsPlan, Amount: amount("12.5"), UsedElsewhere: amount("2.5"), Factor: amount("0.72"), Ends: "2027-06-01"},
		{ID: "web", Kind: billing.ReservedInstances, Amount: 10 * one, InstanceType: "m5.large", Region: "us-east-1", SizeFlexible: true, CostPerHour: price("0.6")},
	}, in.Commitments)
	assert.Equal(t, []string{"file1: left out: commitment old, which ended on 2026-11-30"}, notes(in))
}

// Faults name the file, the commitment, the field and the value, all at once.
func TestReadFaults(t *testing.T) {
	for text, want := range map[string][]string{
		"commitments: [{id: a, kind: plan, amount: 1}]":                                  {"reading file1: commitment a: kind: plan: want one of [reserved-instances vcpus memory-gib savings-plan]"},
		"commitments: [{id: a, kind: savings-plan, amount: -1, factor: 1.5}]":            {"commitment a: amount: -1: must be more than 0", "commitment a: factor: 1.5: want 1 less the discount"},
		"commitments: [{id: a, kind: savings-plan, amount: 1}]":                          {"commitment a: rates: must not be empty without a factor"},
		"commitments: [{id: a, kind: vcpus, amount: 1, sizeFlexible: true}]":             {"commitment a: sizeFlexible: true: is not a field of this kind"},
		"commitments: [{kind: vcpus, amount: 1}]":                                        {"commitments[0].id: must not be empty"},
		"commitments: [{id: a b, kind: vcpus, amount: 1, amont: 2}]":                     {"commitments[0].amont: is not a known field", "commitment a b: id: a b: must be a valid label value"},
		"commitments: [{id: a, kind: vcpus, amount: x}]":                                 {"commitments[0].amount: x: must be a number of units, e.g. 12.5"},
		"commitments: [{id: a, kind: vcpus, amount: 1},{id: a, kind: vcpus, amount: 1}]": {"commitment a: id: is given twice, first in file1"},
		"commitments: [{id: a, kind: reserved-instances, amount: 2000000}]":              {"amount: 2000000: must not exceed 1000000", "instanceType: must not be empty"},
		"[{}]": {"[0]: is neither a commitment of gcloud nor a reservation of az"},
		"":     {"is empty"},
		"{":    {"is neither YAML nor JSON"},
		"a":    {"must be an object or a list"},
		"{}":   {"has no commitments, discounts or offers"},
		"discounts: [{percent: 0},{percent: 101, instanceTypes: ['[']},{percent: 5, capacityTypes: [cheap!]}]": {
			"reading file1: discounts[0].percent: 0: must be more than 0", "discounts[1].percent: 101: must be", `discounts[1].instanceTypes[0]: "[": must be the name`, "discounts[2].capacityTypes[0]:"},
		"discounts: [{percent: 5, family: m7i}]": {"discounts[0].family: is not a known field"},
	} {
		_, err := read(text)
		require.Error(t, err, text)
		for _, message := range want {
			assert.ErrorContains(t, err, message, text)
		}
	}
}

const savingsPlans = `{"savingsPlans": [
 {"offeringId": "off-1", "savingsPlanId": "sp-1", "savingsPlanArn": "arn:aws:savingsplans::111122223333:savingsplan/sp-1", "start": "2026-01-01T00:00:00.000Z",
  "end": "2029-01-01T00:00:00.000Z", "state": "active", "ec2InstanceFamily": "m5", "region": "us-east-1", "savingsPlanType": "EC2Instance", "paymentOption": "No Upfront",
  "productTypes": ["EC2"], "currency": "USD", "commitment": "0.10000000", "upfrontPaymentAmount": "0.0", "termDurationInSeconds": 94608000},
 {"offeringId": "off-2", "savingsPlanId": "sp-2", "end": "2027-01-01T00:00:00.000Z", "state": "active", "savingsPlanType": "Compute", "currency": "USD", "commitment": "2.5"},
 {"offeringId": "off-3", "savingsPlanId": "sp-3", "state": "active", "savingsPlanType": "SageMaker", "currency": "USD", "commitment": "2.5"},
 {"offeringId": "off-3", "savingsPlanId": "sp-4", "state": "retired", "savingsPlanType": "Compute", "currency": "USD", "commitment": "2.5"}]}`

func TestReadSavingsPlans(t *testing.T) {
	ofPlan := `{"savingsPlanId": "sp-1", "searchResults": [
 {"rate": "0.06", "currency": "USD", "unit": "Hrs", "productType": "EC2", "serviceCode": "AmazonEC2", "usageType": "BoxUsage:m5.large", "operation": "RunInstances",
  "properties": [{"name": "region", "value": "us-east-1"}, {"name": "instanceType", "value": "m5.large"}, {"name": "productDescription", "value": "Linux/UNIX"}, {"name": "tenancy", "value": "shared"}]},
 {"rate": "0.9", "currency": "USD", "productType": "EC2", "usageType": "BoxUsage:m5.large", "properties": [{"name": "productDescription", "value": "Windows"}, {"name": "tenancy", "value": "shared"}]},
 {"rate": "0.9", "currency": "USD", "productType": "EC2", "usageType": "DedicatedUsage:m5.large", "properties": [{"name": "productDescription", "value": "Linux/UNIX"}, {"name": "tenancy", "value": "dedicated"}]},
 {"rate": "0.01", "currency": "USD", "productType": "Fargate", "usageType": "Fargate-vCPU-Hours:perCPU", "properties": []}]}`
	ofOffering := `{"searchResults": [{"savingsPlanOffering": {"offeringId": "off-2", "paymentOption": "No Upfront", "planType": "Compute", "currency": "USD"},
  "productType": "EC2", "rate": "0.055", "unit": "Hrs", "usageType": "USE1-BoxUsage:c5.large", "properties": {"region": "us-east-1", "instanceFamily": "c5", "productDescription": "Linux/UNIX", "tenancy": "shared"}}], "nextToken": "more"}`
	in, err := read(savingsPlans, ofPlan, ofOffering)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "sp-1", Kind: billing.SavingsPlan, Amount: amount("0.1"), Ends: "2029-01-01", Region: "us-east-1", Families: []string{"m5"}, Rates: []billing.Rate{{InstanceType: "m5.large", Region: "us-east-1", Price: price("0.06")}}},
		{ID: "sp-2", Kind: billing.SavingsPlan, Amount: amount("2.5"), Ends: "2027-01-01", Rates: []billing.Rate{{InstanceType: "c5.large", Region: "us-east-1", Price: price("0.055")}}},
	}, in.Commitments)
	assert.Equal(t, []string{
		"file1: left out: 1 savings plans of type SageMaker", "file1: left out: 1 savings plans that are retired",
		"file2: left out: 1 rates of Fargate", "file2: left out: 1 rates of Windows", "file2: left out: 1 rates of dedicated tenancy",
		"file3: the list is cut off: it ends with a nextToken",
	}, notes(in))

	_, err = read(savingsPlans, ofPlan)
	require.ErrorContains(t, err, "reading file1: commitment sp-2: the savings plan has no rates: add a file with the output of aws savingsplans describe-savings-plan-rates --savings-plan-id sp-2")
}

func TestReadReservedInstances(t *testing.T) {
	in, err := read(`{"ReservedInstances": [
 {"Duration": 31536000, "End": "2027-03-01T00:00:00+00:00", "FixedPrice": 876.0, "InstanceCount": 3, "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "ReservedInstancesId": "ri-1",
  "State": "active", "UsagePrice": 0.0, "CurrencyCode": "USD", "InstanceTenancy": "default", "OfferingClass": "convertible", "OfferingType": "Partial Upfront", "RecurringCharges": [{"Amount": 0.02, "Frequency": "Hourly"}], "Scope": "Region"},
 {"InstanceCount": 1, "InstanceType": "c5.large", "ReservedInstancesId": "ri-2", "State": "active", "Scope": "Availability Zone", "AvailabilityZone": "us-east-1a"},
 {"InstanceCount": 1, "InstanceType": "c5.large", "ReservedInstancesId": "ri-3", "State": "retired"},
 {"InstanceCount": 1, "InstanceType": "c5.large", "ReservedInstancesId": "ri-4", "State": "active", "ProductDescription": "Windows"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "ri-1", Kind: billing.ReservedInstances, Amount: 3 * one, InstanceType: "m5.large", SizeFlexible: true, Ends: "2027-03-01", CostPerHour: price("0.36")},
		{ID: "ri-2", Kind: billing.ReservedInstances, Amount: one, InstanceType: "c5.large", Zone: "us-east-1a"},
	}, in.Commitments)
	assert.Equal(t, []string{"file1: left out: 1 reserved instances of Windows", "file1: left out: 1 reserved instances that are retired"}, notes(in))
}

func TestReadCommittedUse(t *testing.T) {
	in, err := read(`[{"kind": "compute#commitment", "name": "n2", "plan": "TWELVE_MONTH", "region": "https://www.googleapis.com/compute/v1/projects/p/regions/europe-west1", "status": "ACTIVE",
  "category": "MACHINE", "type": "GENERAL_PURPOSE_N2", "endTimestamp": "2027-05-01T00:00:00.000-07:00",
  "resources": [{"amount": "20", "type": "VCPU"}, {"amount": "98304", "type": "MEMORY"}, {"amount": "375", "type": "LOCAL_SSD"}]},
 {"name": "old", "plan": "TWELVE_MONTH", "status": "EXPIRED", "type": "GENERAL_PURPOSE"}]`)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "n2-vcpus", Kind: billing.VCPUs, Amount: 20 * one, Families: []string{"n2"}, Region: "europe-west1", Ends: "2027-05-01"},
		{ID: "n2-memory", Kind: billing.MemoryGiB, Amount: 96 * one, Families: []string{"n2"}, Region: "europe-west1", Ends: "2027-05-01"},
	}, in.Commitments)
	assert.Equal(t, []string{"file1: left out: 1 commitments that are expired", "file1: left out: 1 resources of commitments: LOCAL_SSD"}, notes(in))

	catalog := gcp.MustCatalog("europe-west1")
	filled, missing := billing.FillUnitPrices(in.Commitments, catalog)
	assert.Empty(t, missing)
	// The two prices give the price of every type of the family that has neither GPU nor local disk.
	standard, ok := catalog.Get("n2-standard-8")
	require.True(t, ok)
	want := 8*filled[0].UnitPrice + 32*filled[1].UnitPrice
	for i := range standard.Offerings {
		if o := &standard.Offerings[i]; o.CapacityType == "on-demand" {
			u := billing.UsageOf("", standard, o)
			assert.Equal(t, int64(32<<10), u.MemoryMiB)
			assert.InEpsilon(t, int64(want), int64(o.Price), 0.001)
		}
	}
}

func TestReadAzureReservations(t *testing.T) {
	in, err := read(`[{"id": "/providers/microsoft.capacity/reservationOrders/11111111-aaaa/reservations/22222222-bbbb", "location": "westeurope", "name": "11111111-aaaa/22222222-bbbb",
  "sku": {"name": "Standard_D4s_v5"}, "properties": {"appliedScopeType": "Shared", "displayName": "web", "expiryDate": "2028-02-01", "instanceFlexibility": "On", "provisioningState": "Succeeded", "quantity": 7, "reservedResourceType": "VirtualMachines"}},
 {"id": "/x/3", "properties": {"quantity": 1, "reservedResourceType": "SqlDatabases"}}]`)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "22222222-bbbb", Kind: billing.ReservedInstances, Amount: 7 * one, InstanceType: "Standard_D4s_v5", Region: "westeurope", SizeFlexible: true, Ends: "2028-02-01"},
	}, in.Commitments)
	assert.Equal(t, []string{"file1: left out: 1 reservations of SqlDatabases"}, notes(in))
}

// Any text is read or refused, and commitments that are read can be settled.
func FuzzRead(f *testing.F) {
	f.Add("commitments: [{id: a, kind: savings-plan, amount: 1, factor: 0.7}]")
	f.Add(savingsPlans)
	f.Add(`[{"plan": "TWELVE_MONTH", "status": "ACTIVE", "type": "GENERAL_PURPOSE", "name": "n", "resources": [{"type": "VCPU", "amount": "4"}]}]`)
	f.Add(`{"value": [{"properties": {"quantity": 1, "reservedResourceType": "VirtualMachines"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := read(text)
		if err != nil {
			return
		}
		usages := nodes(3, "m5.large", "us-east-1a", "0.096", 2, 8192)
		bill := billing.Settle(usages, in.Commitments)
		assert.LessOrEqual(t, bill.Uncovered, bill.List)
	})
}

// A file may hold the output of several commands of AWS in one object.
func TestListsInOneObject(t *testing.T) {
	in, err := billing.Read(time.Time{}, billing.File{Name: "aws.json", In: strings.NewReader(`{
		"ReservedInstances": [{"ReservedInstancesId": "r", "InstanceType": "m5.large", "InstanceCount": 2, "State": "active"}],
		"savingsPlans": [{"savingsPlanId": "s", "offeringId": "o", "state": "active", "savingsPlanType": "Compute", "commitment": "1.5"}],
		"searchResults": [{"savingsPlanOffering": {"offeringId": "o"}, "rate": "0.06", "productType": "EC2", "usageType": "BoxUsage:m5.large", "properties": []}]
	}`)})
	require.NoError(t, err)
	require.Len(t, in.Commitments, 2)
}

// notes are the notes of some files, each with its file.
func notes(in billing.Input) (texts []string) {
	for _, n := range in.Notes {
		texts = append(texts, n.File+": "+n.Message)
	}
	return texts
}

// Capacity reservations cover nodes of their type and zone. What the nodes of the input do not explain of their use is used elsewhere.
func TestReadCapacityReservations(t *testing.T) {
	in, err := read(`{"CapacityReservations": [
 {"CapacityReservationId": "cr-1", "InstanceType": "m5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-east-1a", "Tenancy": "default", "TotalInstanceCount": 10, "AvailableInstanceCount": 4, "State": "active", "InstanceMatchCriteria": "open", "EndDateType": "unlimited"},
 {"CapacityReservationId": "cr-2", "InstanceType": "m5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": "us-east-1a", "Tenancy": "default", "TotalInstanceCount": 1, "AvailableInstanceCount": 0, "State": "active", "InstanceMatchCriteria": "targeted"},
 {"CapacityReservationId": "cr-3", "State": "expired"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{{ID: "cr-1", Kind: billing.ReservedInstances, Amount: 10 * one, InUse: 6 * one, InstanceType: "m5.large", Zone: "us-east-1a"}}, in.Reservations)
	assert.Empty(t, in.Commitments)
	assert.Len(t, in.Notes, 2)
	usages := join(nodes(2, "m5.large", "us-east-1a", "0.096", 2, 8192), nodes(3, "m5.large", "us-east-1b", "0.096", 2, 8192))
	filled := billing.FillUsedElsewhere(in.Reservations, usages)
	assert.Equal(t, 4*one, filled[0].UsedElsewhere)
	bill := billing.Settle(usages, filled)
	assert.Equal(t, []billing.Units{2 * one, 4 * one}, []billing.Units{bill.Commitments[0].Used, bill.Commitments[0].Unused})

	_, err = read(`{"CapacityReservations": [{"CapacityReservationId": "cr-1", "State": "active", "InstanceMatchCriteria": "open", "TotalInstanceCount": 1, "AvailableInstanceCount": 2}]}`)
	require.ErrorContains(t, err, "capacity reservation cr-1: AvailableInstanceCount: 2: must be from 0 to TotalInstanceCount 1")
}

// Offers are read from YAML, and from what AWS prints of offerings that no plan has.
func TestReadOffers(t *testing.T) {
	in, err := read(`{"searchResults": [{"savingsPlanOffering": {"offeringId": "0a1b2c3d-4", "paymentOption": "No Upfront", "planType": "Compute", "durationSeconds": 94608000, "currency": "USD"},
  "productType": "EC2", "rate": "0.055", "unit": "Hrs", "usageType": "USE1-BoxUsage:c5.large", "properties": {"region": "us-east-1", "productDescription": "Linux/UNIX", "tenancy": "shared"}}]}`,
		`{"ReservedInstancesOfferings": [{"ReservedInstancesOfferingId": "ri-1", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "InstanceTenancy": "default", "FixedPrice": 219.0, "Duration": 31536000, "CurrencyCode": "USD", "RecurringCharges": [{"Amount": 0.03, "Frequency": "Hourly"}]}]}`,
		"offers: [{id: half, kind: savings-plan, factor: 0.5}]")
	require.NoError(t, err)
	assert.Equal(t, []billing.Commitment{
		{ID: "ri-1", Kind: billing.ReservedInstances, InstanceType: "m5.large", SizeFlexible: true, CostPerHour: price("0.055")},
		{ID: "half", Kind: billing.SavingsPlan, Factor: amount("0.5")},
		{ID: "compute-3y-no-upfront-0a1b2c3d", Kind: billing.SavingsPlan, Rates: []billing.Rate{{InstanceType: "c5.large", Region: "us-east-1", Price: price("0.055")}}},
	}, in.Offers)
	_, err = read("offers: [{id: a, kind: savings-plan, amount: 2, factor: 0.5}, {id: b, kind: reserved-instances, instanceType: m5.large}]")
	require.ErrorContains(t, err, "offers[0]: commitment a: amount: 2: is not a field of this kind of commitment")
	require.ErrorContains(t, err, "offers[1]: commitment b: costPerHour: 0: must be the price of one reserved instance per hour, more than 0")
}

// A commitment pays from the hours on in which its cost is below the price of the nodes; covered nodes and spot need none.
func TestBreakEvens(t *testing.T) {
	usages := join(nodes(3, "m5.large", "us-east-1a", "0.1", 2, 8192), nodes(1, "m5.xlarge", "us-east-1a", "0.2", 4, 16384), nodes(1, "m5.large", "us-east-1b", "0.03", 2, 8192))
	usages[4].CapacityType = offerings.Spot
	bill := billing.Settle(usages, []billing.Commitment{{ID: "ri", Kind: billing.ReservedInstances, Amount: one, InstanceType: "m5.large"}})
	got := billing.BreakEvens(&bill, usages, []billing.Commitment{
		{ID: "plan", Kind: billing.SavingsPlan, Factor: amount("0.7")},
		{ID: "flexible", Kind: billing.ReservedInstances, InstanceType: "m5.large", SizeFlexible: true, CostPerHour: price("0.06")},
		{ID: "dear", Kind: billing.ReservedInstances, InstanceType: "m5.large", CostPerHour: price("0.11")},
	})
	assert.Equal(t, []billing.OfferBreakEven{
		{Offer: "flexible", Family: "m5", Nodes: 3, PricePerHour: price("0.4"), CostPerHour: price("0.24"), HoursPerMonth: 438, SavingPerMonth: price("116.8")},
		{Offer: "plan", Family: "m5", Nodes: 3, PricePerHour: price("0.4"), CostPerHour: price("0.28"), HoursPerMonth: 511, SavingPerMonth: price("87.6")},
	}, got)
}
