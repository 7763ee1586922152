// SPDX-License-Identifier: Apache-2.0
// Joins Kubernetes' package test/integration/dra when ../build makes a program of it: once the API server is up and
// before the first test runs, whoever started the program may install webhooks.
//
// With DOOR=FOLDER in the environment a kubeconfig is written to FOLDER/kubeconfig; then the tests wait for FOLDER/open.

package dra

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const doorWait = 2 * time.Minute

// The type of a test context is another one in each minor.
func waitAtDoor(tCtx interface{ Fatalf(string, ...any) }, config *rest.Config) {
	folder := os.Getenv("DOOR")
	if folder == "" {
		return
	}
	file := filepath.Join(folder, "kubeconfig")
	if err := errors.Join(clientcmd.WriteToFile(kubeconfigOf(config), file+".part"), os.Rename(file+".part", file)); err != nil {
		tCtx.Fatalf("the door: %v", err)
	}
	until := time.Now().Add(doorWait)
	for {
		if _, err := os.Stat(filepath.Join(folder, "open")); err == nil {
			return
		}
		if time.Now().After(until) {
			tCtx.Fatalf("%s: nobody opened the door within %s", folder, doorWait)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func kubeconfigOf(config *rest.Config) api.Config {
	out := api.NewConfig()
	out.Clusters["e2e"] = &api.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		CertificateAuthority:     config.CAFile,
		CertificateAuthorityData: config.CAData,
	}
	out.AuthInfos["e2e"] = &api.AuthInfo{Token: config.BearerToken}
	out.Contexts["e2e"] = &api.Context{Cluster: "e2e", AuthInfo: "e2e"}
	out.CurrentContext = "e2e"
	return *out
}
