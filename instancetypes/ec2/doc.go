// Package ec2 holds the catalogs of Amazon EC2, region by region: about 1,340 instance types with
// their shapes, labels and prices, embedded in some 160 kB.
//
//	plan, err := planner.Plan(ctx, scheduling.Problem{Catalog: ec2.MustCatalog("us-east-1"), …})
//
// # What is known
//
// Figures are facts from public sources, at the dates that [Catalog]'s provenance
// states, and no price is made up. Prices are those of Linux instances of shared
// tenancy, in USD per hour.
//
//   - Shapes: cores, memory, architecture, accelerators, local disks, network interfaces. Some 440
//     types of the newest generations stand in a price list and are described nowhere in the
//     sources; their shapes are read off their names, and their local disks are not known. GPU
//     types of which the name does not tell enough are left out (g6f, gr6f, g7e, p5.4xlarge, p6).
//   - On demand: every region has the prices of May 2025; us-east-1 and GovCloud have
//     those of summer 2026, with the types that are new since then. Prices of bare
//     metal are of 2025 where there is one, since the newer list prices dedicated
//     tenancy; the others carry the dedicated price, marked as an estimate.
//   - Spot: prices of one day of May 2025. Real spot prices move by the
//     hour: for decisions about money feed current ones, such as a spot price history
//     by [instancetypes.Catalog.WithPrices]. A type without a spot price is not sold as spot here. Regions
//     that accounts must opt into, and GovCloud, have no spot prices in the source.
//   - Interruption rates of spot nodes: the middle of the band that AWS publishes
//     (less than 5 %, 5 to 10 %, and so on; a quarter for the band above 20 %). The
//     bands are coarse and change from month to month.
//   - Zones: by zone id, under the label topology.k8s.aws/zone-id. Names of zones
//     differ from account to account, so the zone whose id ends in az1 is called a,
//     az2 is b, and so on; Catalog.WithZones gives zones the names that an account has
//     for them. The source does not say which spot price of a type belongs to which zone: its
//     median is that of all zones, and "price" stands in Estimated.
//     Where the zones of a type are not known they are assumed, and Estimated names
//     "unavailable".
//
// # What is computed
//
// Nodes are those of EKS with Amazon Linux 2023 and default settings, as Karpenter's AWS provider
// expects them: labels under karpenter.k8s.aws, memory less 7.5 % that the operating system does
// not see, as many pods as addresses, reserved cores and memory by the rules of the node bootstrap,
// a root volume of 20 GiB. A fact that is not known has no label. A NodePool written for EKS works
// unchanged. EFA interfaces are not modelled. [NodeClass.Settings] tells how nodes differ that an
// EC2NodeClass sets up, [AutoNodeClass.Settings] those of EKS Auto Mode.
//
// # Sources and licences
//
// The tables are made by the command in instancetypes/gen. They hold facts taken from
//
//   - github.com/cristim/ec2-instances-info, data of ec2instances.info, under the MIT
//     licence, copyright 2013 Garret Heaton;
//   - github.com/aws/amazon-vpc-resource-controller-k8s and
//     github.com/aws/karpenter-provider-aws, under the Apache License 2.0, copyright
//     Amazon.com, Inc. or its affiliates.
//
// The file NOTICE in this directory has the terms. Amazon and EC2 are trademarks of
// their owner, who has no part in this.
package ec2
