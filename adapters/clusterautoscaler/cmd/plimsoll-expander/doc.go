// Command plimsoll-expander is a server for the flag --expander=grpc of Cluster Autoscaler, which chooses the scale-up that
// costs least for the pods that it places. The README of the module says how to install it.
package main
