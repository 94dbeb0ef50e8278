import logging
import threading

from brainsmith.build.messages import logged_warnings


def test_warnings_of_this_thread_alone():
    log = logging.getLogger("finn_logger")
    with logged_warnings() as lines:
        log.warning("mine")
        log.error("too")
        log.info("not this")
        logging.getLogger("brainsmith.plugin").warning("nor this")
        other = threading.Thread(target=log.warning, args=("another thread's",))
        other.start()
        other.join()
    log.warning("afterwards")
    assert lines == ["mine", "too"]
