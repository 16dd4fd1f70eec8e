{
  description = "Runs hooks: small programs that run before or after an action and can veto it";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      of = system: nixpkgs.legacyPackages.${system};
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = (of system).rustPlatform.buildRustPackage {
          pname = manifest.name;
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          # Its flags are for programs of the system's own linker.
          postPatch = "rm .cargo/config.toml";
          # They start agents' clients, shells and namespaces: they run in this project's CI.
          doCheck = false;
          nativeBuildInputs = [ (of system).installShellFiles ];
          postInstall = ''
            installManPage man/*.[15]
            for shell in bash zsh fish; do
              $out/bin/hookrun completions $shell > hookrun.$shell
            done
            installShellCompletion hookrun.{bash,zsh,fish}
          '';
          meta = {
            description = manifest.description;
            license = with nixpkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "hookrun";
          };
        };
      });
    };
}
