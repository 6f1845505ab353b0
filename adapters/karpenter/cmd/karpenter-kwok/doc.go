// Command karpenter-kwok is Karpenter on its KWOK provider, which simulates nodes, with Plimsoll as its planner. It has the
// flags and environment variables of Karpenter, and wants a cluster with Karpenter's custom resources and KWOK.
package main
