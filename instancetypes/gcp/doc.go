// Package gcp holds the catalogs of Google Cloud's Compute Engine, region by region: about 510
// machine types in 43 regions, with shapes, labels and prices, embedded in some 300 kB.
//
// # What is known
//
// Figures are facts from public sources, at the dates that [Catalog]'s provenance states, and
// no price is made up. Prices are those of nodes for Linux, in USD per hour, local disks and
// GPUs included.
//
//   - On demand and spot: those of July 2026. Google has one price for a region and changes
//     spot prices at most once a day. Discounts for sustained use, which nodes of series such
//     as n1 and n2 get that run all month, are not taken off.
//   - Commitments of one and three years: [Committed], to be laid over a catalog.
//   - Regions: which types a region sells is known of July 2026. Which of its zones do was
//     published last in May 2023; types that are newer, or new in a region, are assumed to be
//     sold in all zones of the region, and their offerings name "unavailable" as estimated.
//     Regions that are newer are assumed to have zones a, b and c.
//   - Interruption rates of spot nodes are not published.
//
// Custom machine types, GPUs that are attached to n1, and shares of GPUs are left out,
// and so are f1-micro and g1-small, which are too small for GKE. GPU types without a price in
// the source (a3-ultragpu, a4 and newer) are left out, too.
//
// # What is computed
//
// Nodes are those of GKE with Container-Optimized OS and default settings, as Karpenter's
// provider for Google Cloud expects them: its labels under karpenter.k8s.gcp, those of GKE such
// as cloud.google.com/machine-family, gke-accelerator and, on spot nodes, gke-spot, and
// disk-type.gke.io/… for disks that can be attached. A NodePool written for that provider works
// unchanged, with one difference: karpenter.k8s.gcp/instance-gpu-count is the number of GPUs,
// which the provider states as 1 for every node with GPUs.
//
//   - Memory is the advertised memory less 7 %. GKE keeps a quarter of the first 4 GiB, a fifth of
//     the next 4, a tenth of the next 8, 6 % of the next 112 and 2 % of the rest, and 100 MiB as
//     eviction threshold; of the cores 6, 1, 0.5, 0.5 and then 0.25 %, and 1.06 cores of e2-micro,
//     e2-small and e2-medium. kube-proxy takes 0.1 cores of every node.
//   - A node takes 110 pods.
//   - Pods write to a boot disk of 100 GiB, or to the local disks that the type comes with.
//
// [NodeClass.Settings] tells how nodes differ that a GCENodeClass sets up.
//
// # Sources and licences
//
// The tables are made by the command in instancetypes/gen. They hold facts taken from
// github.com/Cyclenerd/google-cloud-pricing-cost-calculator and
// github.com/cloudpilot-ai/karpenter-provider-gcp, both under the Apache License 2.0. The
// second has a price list, too: of 25,182 prices that both have none differs by more than 1 %
// (crosscheck.md in this directory). The file NOTICE in this directory has the terms. Google
// Cloud and GKE are trademarks of their owner, who has no part in this.
package gcp
