// Render objects of the operator as the operator itself does, without a cluster.
//
// Built by tools/exported.py within the operator's sources. Objects come on standard input.
//   networks MANIFESTS   prints the CNI configuration of each network, by its name
//   policies             writes what the node's config service reads; run on the node
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	uns "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	v1 "github.com/k8snetworkplumbingwg/sriov-network-operator/api/v1"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/consts"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/helper"
	"github.com/k8snetworkplumbingwg/sriov-network-operator/pkg/vars"
)

type network interface {
	RenderNetAttDef() (*uns.Unstructured, error)
	GetName() string
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var policies []v1.SriovNetworkNodePolicy
	var networks []network
	for from := yaml.NewYAMLReader(bufio.NewReader(os.Stdin)); ; {
		text, err := from.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		var head struct{ Kind string }
		must(yaml.Unmarshal(text, &head))
		switch head.Kind {
		case "SriovNetworkNodePolicy":
			var one v1.SriovNetworkNodePolicy
			must(yaml.UnmarshalStrict(text, &one))
			policies = append(policies, one)
		case "SriovNetwork":
			one := new(v1.SriovNetwork)
			must(yaml.UnmarshalStrict(text, one))
			networks = append(networks, one)
		case "OVSNetwork":
			one := new(v1.OVSNetwork)
			must(yaml.UnmarshalStrict(text, one))
			networks = append(networks, one)
		default:
			must(fmt.Errorf("another kind: %q", head.Kind))
		}
	}
	if os.Args[1] == "policies" {
		write(policies)
		return
	}
	v1.ManifestsPath = os.Args[2]
	made := map[string]json.RawMessage{}
	for _, one := range networks {
		rendered, err := one.RenderNetAttDef()
		must(err)
		config, _, err := uns.NestedString(rendered.Object, "spec", "config")
		must(err)
		made[one.GetName()] = json.RawMessage(config)
	}
	must(json.NewEncoder(os.Stdout).Encode(made))
}

// write does what the operator's controller and daemon do between them.
func write(policies []v1.SriovNetworkNodePolicy) {
	// As the daemon's unit on the node: the root is the host's own, and cards of any kind are taken.
	vars.InChroot, vars.UsingSystemdMode, vars.DevMode = true, true, true
	vars.PlatformType = consts.Baremetal
	helpers, err := helper.NewDefaultHostHelpers()
	must(err)
	state := new(v1.SriovNetworkNodeState)
	state.Status.Interfaces, err = helpers.DiscoverSriovDevices(helpers)
	must(err)
	for _, one := range policies {
		must(one.Apply(state, true))
	}
	_, err = helpers.WriteConfFile(state)
	must(err)
	must(helpers.WriteSriovSupportedNics())
}
