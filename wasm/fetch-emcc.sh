#!/bin/bash
# fetch-emcc.sh DIR: unpacks Emscripten, LLVM and Binaryen into DIR.
#
# Nothing is installed and root is not needed: apt downloads Debian's packages
# (release "sid", which has a recent Emscripten) from the mirror this machine
# already uses, into a state folder of its own, and small wrappers start the
# unpacked programs with the C library unpacked beside them. Afterwards:
#
#   DIR/weft/emcc   the compiler            DIR/weft/bin   clang, wasm-ld, ...
#   DIR/weft/stamp  DIR itself, written last: the wrappers hold absolute paths,
#                   so a folder that was moved is one to unpack again
#
# Two runs at once are safe: the second waits, then finds the work done.
set -euo pipefail
export LC_ALL=C

fail() {
  echo "$1" >&2
  exit 1
}

case $#${1-} in
  1[!-]*) ;;
  *) fail "usage: fetch-emcc.sh DIR" ;;
esac
dest=$(realpath -m "$1")
part=$dest.part apt=$dest.apt
mkdir -p "$(dirname "$dest")"
exec 9> "$dest.lock"
flock 9
[ "$(cat "$dest/weft/stamp" 2> /dev/null)" != "$dest" ] || exit 0
rm -rf "$dest" "$part" "$apt"

# indextargets answers only after an apt-get update; images often drop its lists.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' \
  'Created-By: Packages' 2> /dev/null |
  awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }' || true)
[ -n "$mirror" ] || mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' \
  /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null | head -1 || true)
[ -n "$mirror" ] || fail "no Debian mirror in the configuration of apt"

mkdir -p "$apt/lists/partial" "$apt/none" "$part"
: > "$apt/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror sid main" > "$apt/sources.list"

# Read after /etc/apt, so proxies and certificates of the machine still hold.
# Signatures are checked; the date is not, as a mirror may be a frozen copy.
cat > "$apt/apt.conf" << CONF
Dir::State "$apt"; Dir::State::status "$apt/status"; Dir::State::lists "$apt/lists";
Dir::Cache "$apt"; Dir::Cache::pkgcache "pkg"; Dir::Cache::srcpkgcache "srcpkg";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/none"; Dir::Etc::preferencesparts "$apt/none";
APT::Install-Recommends "false"; APT::Sandbox::User "$(id -un)";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none";
Acquire::Retries "3"; Debug::NoLocking "true";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
CONF
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -c "$apt/apt.conf" "$@"; }

# Packages that never run here: the machine has a Node and a Python, and code
# for the machine itself is not compiled. Only saves time, so names may age.
unused='^(nodejs|libnode|node-(undici|llhttp)|(lib)?python3|binutils|libbinutils'
unused+='|lib(gcc|stdc\+\+|objc)-.*-dev|libc6-dev|linux-libc-dev|libicu'
unused+='|lib(asan|tsan|lsan|hwasan|ubsan|gprofng|cc1|quadmath|itm|gomp)[0-9]'
unused+='|libclang1-|tzdata|ccache|libc-gconv|openssl-provider)'

list() { # names of the packages, largest first
  apt update
  apt install -y --print-uris emscripten libc-bin |
    awk '{ sub(/_.*/, "", $2); print $3, $2 }' | sort -rn | cut -d' ' -f2 |
    grep -vE "$unused"
}
take() { # FILE: fetches and unpacks the packages it lists
  mkdir "$1.debs"
  cd "$1.debs"
  xargs -a "$1" apt-get -qq -c "$apt/apt.conf" download
  for deb in *.deb; do dpkg-deb -x "$deb" "$part"; done
}

# Four at once: neither a connection nor a core alone keeps up.
list > "$apt/names" 2> "$apt/log" || fail "apt: $(tail -1 "$apt/log")"
split -n r/4 "$apt/names" "$apt/names."
jobs=()
for names in "$apt"/names.??; do
  take "$names" >> "$apt/log" 2>&1 &
  jobs+=($!)
done
for job in "${jobs[@]}"; do
  wait "$job" || fail "apt: $(tail -1 "$apt/log")"
done
rm -rf "$apt" "$part"/usr/share/{doc,locale,man}

inside() { # PATTERN: the last file that matches below $part, as below $dest
  local found
  found=$(compgen -G "$part/$1" | tail -1) || fail "not in the packages: $1"
  echo "$dest${found#"$part"}"
}
loader=$(inside 'usr/lib*/ld-linux-*.so.*')
llvm=$(inside 'usr/lib/llvm-*')
resources=$(inside 'usr/lib/llvm-*/lib/clang/*')
libraries=$dest/usr/lib/$(uname -m)-linux-gnu:$llvm/lib
weft=$part/weft
mkdir -p "$weft/bin" "$weft/cache"

wrap() { # NAME PROGRAM [LINE]: LINE runs before the program is started
  printf '#!/bin/sh\n%s\nexec "%s" --argv0 "%s" --library-path "%s" "%s" "$@"\n' \
    "${3-}" "$loader" "$dest/weft/bin/$1" "$libraries" "$2" > "$weft/bin/$1"
  chmod +x "$weft/bin/$1"
}

# clang starts itself again by its own name, with -cc1 as the first word.
own="-no-canonical-prefixes -resource-dir '$resources'"
own="case \$1 in -cc1*) ;; *) set -- $own \"\$@\" ;; esac"
many="case \"\$* \" in -cc1* | *' -o '*) ;;
*' -c '*.c\ *.c\ *) exec bash '$dest/weft/many' \"\$@\" ;; esac"
for path in "$part${llvm#"$dest"}"/bin/* "$part"/usr/bin/wasm-*; do
  name=$(basename "$path") program=$dest${path#"$part"}
  case $name in
    clang) wrap clang "$program" "$many"$'\n'"$own" ;;
    clang++) wrap clang++ "$program" "$own" ;;
    wasm-ld | llvm-* | wasm-*) [ -e "$weft/bin/$name" ] || wrap "$name" "$program" ;;
  esac
done

# Emscripten builds its C library by giving clang hundreds of files, and clang
# starts itself anew for each, which takes three times as long as compiling it.
# Here one process compiles them all, to equal code. It tells debuggers nothing
# of them, which would take a sixth of the time. It writes objects beside the
# sources; Emscripten lets only one build of a library run at a time.
cat > "$weft/many" << 'MANY'
#!/bin/bash
# many FLAGS -c FILES: as clang, but in one process, and without -g
clang=$(dirname "$0")/bin/clang flags=() files=() rest=()
for word; do
  case $word in
    *.c) files+=("$word") ;;
    *.[sS]) rest+=("$word") ;;
    -g) ;;
    *) flags+=("$word") ;;
  esac
done
one_by_one() {
  for file; do "$clang" "${flags[@]}" "$file" || exit 1; done
}
one_by_one "${rest[@]}"
job=$("$clang" -### "${flags[@]}" "${files[0]}" 2>&1 | tail -1)
eval "set -- $job"
words=()
while [ $# -gt 1 ]; do
  case $1 in
    -disable-free) ;; # would keep every file's memory to the end
    -main-file-name | -o) shift ;;
    *) words+=("$1") ;;
  esac
  shift
done
"${words[@]}" "${files[@]}" && mv -t . "${files[@]/%.c/.o}" ||
  one_by_one "${files[@]}"
MANY

# Emscripten starts its own tools by scripts that a space in their path breaks.
{ grep -lsF '(readlink -f $0)' "$part"/usr/share/emscripten/* || true; } |
  xargs -rd '\n' sed -i 's/(readlink -f \$0)/(readlink -f "$0")/'

# Emscripten's own scripts import acorn, and Node looks for it in node_modules.
ln -s nodejs "$part/usr/share/node_modules"
cat > "$weft/config" << CONF
LLVM_ROOT = '$dest/weft/bin'
BINARYEN_ROOT = '$dest/weft'
CACHE = '$dest/weft/cache'
CONF
cat > "$weft/emcc" << WRAPPER
#!/bin/sh
export EM_CONFIG="$dest/weft/config" EM_NODE_JS="\${EM_NODE_JS:-\$(command -v node)}"
exec python3 "$dest/usr/share/emscripten/emcc.py" "\$@"
WRAPPER
chmod +x "$weft/emcc"
echo "$dest" > "$weft/stamp"
mv -T "$part" "$dest"
