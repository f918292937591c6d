import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.kotlinx.lincheck.LincheckAssertionError;
import org.jetbrains.kotlinx.lincheck.annotations.Operation;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.strategy.managed.modelchecking.ModelCheckingOptions;

/**
 * The scenarios of tests/race/corpus for Lincheck, in the order of
 * bench/rust/src/main.rs. The argument is a scenario's number.
 */
public final class Explorers {
  /** Lincheck stops after so many executions of a scenario. */
  static final int MOST = 10_000;

  static String bug = "";
  static int executions = 0;

  /** Sleepers on one word; a monitor stands in for the futex. */
  static final class Futex {
    private int asleep;
    private int wakes;

    synchronized void sleep(AtomicInteger word, int value) {
      if (word.get() != value) return;
      asleep++;
      while (wakes == 0) {
        try {
          wait();
        } catch (InterruptedException error) {
          throw new IllegalStateException(error);
        }
      }
      wakes--;
    }

    synchronized void wake() {
      if (asleep == 0) return;
      asleep--;
      wakes++;
      notify();
    }
  }

  /** Drepper's third mutex: 0 free, 1 locked, 2 locked and contended. */
  public static class Sections {
    private final AtomicInteger state = new AtomicInteger();
    private final Futex futex = new Futex();
    private final AtomicInteger count = new AtomicInteger();

    public Sections() {
      executions++;
    }

    @Operation
    public int incr() {
      lock();
      int n = count.get();
      count.set(n + 1);
      unlock();
      return n;
    }

    private void lock() {
      int seen = state.compareAndExchange(0, 1);
      if (seen == 0) return;
      if (seen != 2) seen = state.getAndSet(2);
      while (seen != 0) {
        futex.sleep(state, 2);
        seen = bug.equals("MX1")
            ? state.compareAndExchange(0, 1)
            : state.getAndSet(2);
      }
    }

    private void unlock() {
      if (state.getAndAdd(-1) == 1) return;
      if (bug.equals("MX3")) futex.wake();
      state.getAndSet(0);
      if (!bug.equals("MX3") && !bug.equals("MX4")) futex.wake();
    }
  }

  /** What incr() means. */
  public static class Counter {
    private int count;

    public int incr() {
      return count++;
    }
  }

  /** Vyukov's bounded queue with two slots. */
  public static class Ring {
    private final AtomicInteger tail = new AtomicInteger();
    private final AtomicInteger head = new AtomicInteger();
    private final AtomicIntegerArray turn =
        new AtomicIntegerArray(new int[] {0, 1});
    private final AtomicIntegerArray data = new AtomicIntegerArray(2);

    public Ring() {
      executions++;
    }

    @Operation
    public boolean push(int value) {
      int p = tail.get();
      for (;;) {
        int seen = turn.get(p & 1);
        if (seen == p) {
          int old = tail.compareAndExchange(p, p + 1);
          if (old == p) break;
          p = old;
        } else if (seen < p) {
          return false;
        } else {
          p = tail.get();
        }
      }
      if (bug.equals("MQ1")) turn.set(p & 1, p + 1);
      data.set(p & 1, value);
      if (!bug.equals("MQ1")) turn.set(p & 1, p + 1);
      return true;
    }

    @Operation
    public int pop() {
      int p = head.get();
      for (;;) {
        int seen = turn.get(p & 1);
        if (seen == p + 1) {
          int old = head.compareAndExchange(p, p + 1);
          if (old == p) break;
          p = old;
        } else if (seen < p + 1) {
          return -1;
        } else {
          p = head.get();
        }
      }
      if (bug.equals("MQ3")) turn.set(p & 1, p + 2);
      int value = data.get(p & 1);
      if (!bug.equals("MQ3")) turn.set(p & 1, p + 2);
      return value;
    }
  }

  /** What push() and pop() mean. */
  public static class Queue {
    private final ArrayList<Integer> items = new ArrayList<>();

    public boolean push(int value) {
      return items.size() < 2 && items.add(value);
    }

    public int pop() {
      return items.isEmpty() ? -1 : items.remove(0);
    }
  }

  static Actor call(Class<?> of, String name, Object... arguments) {
    Method method = Arrays.stream(of.getMethods())
        .filter((it) -> it.getName().equals(name)).findFirst().orElseThrow();
    return new Actor(
        method, List.of(arguments), false, false, false, false, false);
  }

  static List<List<Actor>> sections(int agents, int times) {
    List<List<Actor>> all = new ArrayList<>();
    for (int i = 0; i < agents; i++) {
      List<Actor> calls = new ArrayList<>();
      for (int n = 0; n < times; n++) calls.add(call(Sections.class, "incr"));
      all.add(calls);
    }
    return all;
  }

  static List<List<Actor>> ring(int each) {
    List<Actor> pushes = new ArrayList<>();
    List<Actor> pops = new ArrayList<>();
    for (int n = 1; n <= each; n++) {
      pushes.add(call(Ring.class, "push", n));
      pops.add(call(Ring.class, "pop"));
    }
    return List.of(pushes, pops);
  }

  static void explore(String name, String broken, List<List<Actor>> calls) {
    bug = broken;
    boolean queue = calls.get(0).get(0).getMethod().getName().equals("push");
    Class<?> tested = queue ? Ring.class : Sections.class;
    ModelCheckingOptions options = new ModelCheckingOptions()
        .iterations(0)
        .invocationsPerIteration(MOST)
        .minimizeFailedScenario(false)
        .sequentialSpecification(queue ? Queue.class : Counter.class)
        .addCustomScenario(
            new ExecutionScenario(List.of(), calls, List.of(), null));
    long begin = System.nanoTime();
    String outcome = "nothing";
    try {
      LinChecker.check(tested, options);
    } catch (LincheckAssertionError error) {
      outcome = "a failure";
    }
    long ms = (System.nanoTime() - begin) / 1_000_000;
    System.out.println(
        name + "\t" + executions + "\t" + ms + "\t" + outcome);
  }

  public static void main(String[] words) {
    switch (words[0]) {
      case "0" -> explore("mutex, 2 agents", "", sections(2, 1));
      case "1" -> explore("mutex, 2 agents, twice", "", sections(2, 2));
      case "2" -> explore("mutex, 3 agents", "", sections(3, 1));
      case "3" -> explore("queue, 2 agents x 2", "", ring(2));
      case "4" -> explore("queue, 2 agents x 3", "", ring(3));
      case "5" -> explore("MX1, 3 agents", "MX1", sections(3, 1));
      case "6" -> explore("MX3, 2 agents", "MX3", sections(2, 1));
      case "7" -> explore("MX4, 2 agents", "MX4", sections(2, 1));
      case "8" -> explore("MQ1, 1 push, 1 pop", "MQ1", ring(1));
      case "9" -> explore("MQ3, 3 pushes, 3 pops", "MQ3", ring(3));
      default -> System.out.println("10");
    }
  }

  private Explorers() {}
}
